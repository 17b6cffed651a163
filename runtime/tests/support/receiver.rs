//! A receiver of OTLP over HTTP: keeps what it is sent, and answers as it is told.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// What came in one request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Its path, as `/v1/traces`.
    pub(crate) path: String,
    /// The value of `content-type`.
    pub(crate) content_type: String,
    /// Its body.
    pub(crate) body: Vec<u8>,
}

/// The receiver. It listens until the test ends.
pub(crate) struct Receiver {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    sick: Arc<AtomicBool>,
}

impl Receiver {
    /// Starts it on a free port.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, sick) = (Arc::<Mutex<Vec<Request>>>::default(), Arc::<AtomicBool>::default());
        let (kept, is_sick) = (requests.clone(), sick.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, is_sick) = (kept.clone(), is_sick.clone());
                std::thread::spawn(move || serve(stream, &kept, &is_sick));
            }
        });
        Receiver { address, requests, sick }
    }

    /// From now on it answers 503, or is well again.
    pub(crate) fn set_sick(&self, sick: bool) {
        self.sick.store(sick, Relaxed);
    }

    /// What came until now at a path, without what was answered with an error.
    pub(crate) fn at(&self, path: &str) -> Vec<Request> {
        self.requests.lock().unwrap().iter().filter(|request| request.path == path).cloned().collect()
    }
}

/// Answers request after request on one connection.
fn serve(stream: TcpStream, kept: &Mutex<Vec<Request>>, sick: &AtomicBool) {
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        let answer = if sick.load(Relaxed) {
            "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n"
        } else {
            kept.lock().unwrap().push(request);
            "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n"
        };
        if writer.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut content_type) = (0, String::new());
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "content-type" => content_type = value.trim().to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { path, content_type, body })
}
