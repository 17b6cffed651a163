//! The whole way: a busy thread makes 100,000 spans a second, and a receiver on loopback gets them all. And the opposite: how
//! often a pipeline wakes up that has nothing to do.

use std::hint::black_box;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tracecast::config::{Config, Protocol};
use tracecast::prelude::*;

const SPANS_A_SECOND: u64 = 100_000;
const UUID: &str = "1b4e28ba-2fa1-11d2-883f-0016d3cca427";

#[inline(never)]
#[tc_span("Bench/Two", attrs(tracecast::keys::artifact = UUID, tracecast::keys::size_bytes = x))]
fn two(x: u64) -> u64 {
    black_box(x)
}

pub fn print(quick: bool) {
    let seconds = if quick { 1 } else { 10 };
    println!("## The whole way: {SPANS_A_SECOND} spans a second with 2 attributes, on one thread, for {seconds} s\n");
    println!("| over | ended | exported | dropped | requests | MiB | collector and transport | target |");
    println!("|---|---|---|---|---|---|---|---|");
    for (name, protocol) in [("http/protobuf", Protocol::HttpProtobuf), ("http/json", Protocol::HttpJson)] {
        busy(name, protocol, seconds);
    }
    let seconds = if quick { 2 } else { 20 };
    println!("\n{}\n", idle(Duration::from_secs(seconds)));
}

fn config(receiver: &Receiver) -> Config {
    Config::new().with_endpoint(format!("http://{}", receiver.address).parse().expect("an address"))
}

fn busy(name: &str, protocol: Protocol, seconds: u64) {
    let receiver = Receiver::start();
    let telemetry = config(&receiver).with_protocol(protocol).init().expect("telemetry starts");
    telemetry.flush(Duration::from_secs(10));
    let (began, cpu) = (Instant::now(), cpu_of_collector());
    // In steps of a millisecond, so that the thread makes them at this rate and not in one go.
    let step = SPANS_A_SECOND / 1_000;
    for millisecond in 0..seconds * 1_000 {
        for span in 0..step {
            black_box(two(black_box(span)));
        }
        while began.elapsed() < Duration::from_millis(millisecond + 1) {
            std::hint::spin_loop();
        }
    }
    let took = began.elapsed();
    let cpu = cpu_of_collector().zip(cpu).map(|(now, before)| (now - before).as_secs_f64() / took.as_secs_f64());
    let report = telemetry.shutdown(Duration::from_secs(30));
    let cpu = cpu.map_or("not known here".to_owned(), |share| format!("{:.1} % of a core", share * 100.0));
    let target = if protocol == Protocol::HttpProtobuf { "0 dropped, < 10 % of a core" } else { "" };
    println!(
        "| {name} | {} | {} | {} | {} | {:.1} | {cpu} | {target} |",
        report.spans_ended,
        report.spans_exported,
        report.spans_dropped,
        receiver.requests.load(Relaxed),
        receiver.bytes.load(Relaxed) as f64 / f64::from(1 << 20),
    );
}

/// All three signals are on and have receivers, and nothing happens.
fn idle(time: Duration) -> String {
    let receiver = Receiver::start();
    let telemetry = config(&receiver).init().expect("telemetry starts");
    black_box(two(1));
    telemetry.flush(Duration::from_secs(10));
    let before = switches_of_collector();
    std::thread::sleep(time);
    let switches = switches_of_collector().zip(before).map(|(now, before)| now - before);
    drop(telemetry);
    let Some(switches) = switches else { return "How often an idle pipeline wakes up is not known here.".to_owned() };
    let a_second = switches as f64 / time.as_secs_f64();
    format!("An idle pipeline of all signals woke up {a_second:.1} times a second (target: no more than a few).")
}

/// The processor time that the collector's thread has taken.
fn cpu_of_collector() -> Option<Duration> {
    let stat = std::fs::read_to_string(collector()?.join("schedstat")).ok()?;
    stat.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// How often it went to sleep.
fn switches_of_collector() -> Option<u64> {
    let status = std::fs::read_to_string(collector()?.join("status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

/// The collector's thread, as Linux shows it.
fn collector() -> Option<std::path::PathBuf> {
    let threads = std::fs::read_dir("/proc/self/task").ok()?;
    let is_ours = |path: &std::path::PathBuf| {
        std::fs::read_to_string(path.join("comm")).is_ok_and(|name| name.trim() == "tracecast")
    };
    // The last one: one of an earlier start may still be about to end.
    threads.flatten().map(|thread| thread.path()).filter(is_ours).max()
}

/// Takes requests and says yes.
struct Receiver {
    address: SocketAddr,
    requests: Arc<AtomicU64>,
    bytes: Arc<AtomicU64>,
}

impl Receiver {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (requests, bytes) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let counters = (requests.clone(), bytes.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (requests, bytes) = counters.clone();
                std::thread::spawn(move || serve(stream, &requests, &bytes));
            }
        });
        Receiver { address, requests, bytes }
    }
}

fn serve(stream: TcpStream, requests: &AtomicU64, bytes: &AtomicU64) -> Option<()> {
    let mut writer = stream.try_clone().ok()?;
    let mut reader = BufReader::with_capacity(1 << 16, stream);
    let mut body = Vec::new();
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let Some((name, value)) = line.trim().split_once(':') else {
                if line.trim().is_empty() {
                    break;
                }
                continue;
            };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok()?;
            }
        }
        body.resize(length, 0);
        reader.read_exact(&mut body).ok()?;
        requests.fetch_add(1, Relaxed);
        bytes.fetch_add(length as u64, Relaxed);
        writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").ok()?;
    }
}
