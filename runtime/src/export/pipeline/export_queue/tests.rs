//! Tests of a queue with a receiver that answers, and with one that does not.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use super::*;
use crate::config::{self, Compression, Endpoint, Otlp, TlsFiles};
use crate::export::spool::{self, Encoding, Spool};
use crate::record::ids;

/// A receiver that reports each request, and answers it after a delay or never.
struct Backend {
    url: String,
    requests: Receiver<usize>,
}

impl Backend {
    fn start(answers_after: Option<Duration>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1/traces", listener.local_addr().unwrap());
        let (tell, requests) = channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let tell = tell.clone();
                thread::spawn(move || serve(stream.unwrap(), &tell, answers_after));
            }
        });
        Backend { url, requests }
    }

    /// Waits for a request and returns the length of its body.
    async fn request(&self) -> usize {
        loop {
            if let Ok(bytes) = self.requests.try_recv() {
                return bytes;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    fn queue(&self, pool: &Rc<Pool>, disk: Option<&Disk>, old: Option<&ExportQueue>) -> ExportQueue {
        let protocol = Protocol::HttpProtobuf;
        let target = Otlp {
            protocol,
            endpoint: self.url.parse::<Endpoint>().unwrap().into(),
            proxy: None,
            headers: Vec::new(),
            tls: TlsFiles::default(),
            compression: Compression::None,
            timeout: Duration::from_secs(60),
        };
        let transport = Box::new(Transport::new(&target, Signal::Traces).unwrap());
        let (backend, disk) = ("a test".to_owned(), disk.cloned());
        let receiver = OtlpReceiver { signal: Signal::Traces, backend, protocol, transport, most_items: 1_000, disk };
        ExportQueue::start(receiver, pool, old)
    }
}

fn serve(mut stream: TcpStream, tell: &Sender<usize>, answers_after: Option<Duration>) {
    let (mut read, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let Some(head) = read.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4) else {
            match stream.read(&mut buffer) {
                Ok(bytes) if bytes > 0 => read.extend_from_slice(&buffer[..bytes]),
                _ => return,
            }
            continue;
        };
        let text = String::from_utf8_lossy(&read[..head]).to_lowercase();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        let length: usize = length.parse().unwrap();
        while read.len() < head + length {
            let bytes = stream.read(&mut buffer).unwrap();
            read.extend_from_slice(&buffer[..bytes]);
        }
        read.drain(..head + length);
        let _ = tell.send(length);
        let Some(time) = answers_after else { return thread::sleep(Duration::from_secs(60)) };
        thread::sleep(time);
        let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn batch(bytes: usize, items: u64) -> Batch {
    Batch { bytes: vec![0; bytes].into(), items }
}

struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        Scratch(std::env::temp_dir().join(format!("tracecast-queue-{:016x}", ids::random())))
    }

    fn disk(&self) -> Disk {
        let config = config::Spool::new(&self.0);
        Disk::new(Spool::open(config).unwrap(), spool::Spooled::Traces, Encoding::Protobuf)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let within = async { tokio::time::timeout(Duration::from_secs(30), test).await.expect("it takes too long") };
    tokio::task::LocalSet::new().block_on(&runtime, within);
}

#[test]
fn a_successor_sends_what_was_in_flight_and_what_waits() {
    let (silent, working) = (Backend::start(None), Backend::start(Some(Duration::ZERO)));
    let pool = Pool::within(1 << 20);
    run(async {
        let old = silent.queue(&pool, None, None);
        [(10, 1), (20, 2)].into_iter().for_each(|(bytes, items)| old.push(batch(bytes, items)));
        assert_eq!(silent.request().await, 10);
        let new = working.queue(&pool, None, Some(&old));
        new.push(batch(30, 4));
        new.emptied().await;
        assert_eq!([working.request().await, working.request().await, working.request().await], [10, 20, 30]);
        assert!(old.has_ended());
        let counts = new.account().counts();
        assert_eq!((counts.exported, counts.pending, counts.lost()), (7, 0, 0));
        assert_eq!((old.account().counts(), new.bytes()), (counts, 0));
    });
}

#[test]
fn at_the_end_everything_goes_to_disk_once() {
    let (silent, scratch) = (Backend::start(None), Scratch::new());
    let pool = Pool::within(1 << 20);
    run(async {
        let disk = scratch.disk();
        let queue = silent.queue(&pool, Some(&disk), None);
        [(10, 1), (20, 2)].into_iter().for_each(|(bytes, items)| queue.push(batch(bytes, items)));
        silent.request().await;
        assert_eq!(queue.account().counts().pending, 3);
        queue.store_rest().await;
        queue.push(batch(30, 4));
        queue.store_rest().await;
        queue.emptied().await;
        let counts = queue.account().counts();
        assert_eq!((counts.spooled, counts.pending, counts.exported), (7, 0, 0));
        let mut files = Vec::new();
        while let Some(claimed) = disk.next().await {
            files.push(claimed.items);
            disk.done(claimed, &Default::default(), queue.account()).await;
        }
        assert_eq!(files, [1, 2, 4]);
    });
}

#[test]
fn a_request_from_disk_is_finished_before_the_end() {
    let (slow, scratch) = (Backend::start(Some(Duration::from_millis(200))), Scratch::new());
    let pool = Pool::within(1 << 20);
    run(async {
        let (disk, account) = (scratch.disk(), Arc::<Account>::default());
        account.add(5, State::Pending);
        disk.put(&batch(10, 5), &account).await.unwrap();
        let queue = slow.queue(&pool, Some(&disk), None);
        assert_eq!(slow.request().await, 10);
        queue.settled().await;
        assert!(queue.has_ended() && disk.next().await.is_none(), "the file is gone");
        // The account that stored the request counts it.
        assert_eq!((account.counts().exported, account.counts().spooled), (5, 0));
        assert_eq!(queue.account().counts(), Default::default());
    });
}

#[test]
fn a_retired_queue_sends_what_it_has_and_ends() {
    let slow = Backend::start(Some(Duration::from_millis(20)));
    let pool = Pool::within(1 << 20);
    run(async {
        let queue = slow.queue(&pool, None, None);
        [1, 2, 3].into_iter().for_each(|items| queue.push(batch(10, items)));
        queue.retire();
        while !queue.has_ended() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!((queue.account().counts().exported, queue.bytes()), (6, 0));
    });
}
