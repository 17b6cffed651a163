//! How each is started: as its own documentation says, with an exporter that counts what it gets and throws it away; or, for
//! the whole way, with one that sends it to a receiver.

pub mod fastrace;
pub mod foundations;
pub mod otlp;
pub mod said;
pub mod sdk;
pub mod tracecast;
pub mod tracing;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

static SEEN: AtomicU64 = AtomicU64::new(0);

/// An exporter has got so many spans.
fn saw(spans: usize) {
    SEEN.fetch_add(spans as u64, Relaxed);
}

/// How many spans exporters have got since the start.
pub fn seen() -> u64 {
    SEEN.load(Relaxed)
}

/// Makes sure that exactly so many spans get to an exporter: who records nothing by mistake would be the fastest.
pub fn check(name: &str, before: u64, expected: u64) {
    let start = Instant::now();
    loop {
        sdk::flush();
        ::fastrace::flush();
        foundations::flush();
        let spans = seen() - before;
        if spans >= expected || start.elapsed() > Duration::from_secs(20) {
            assert_eq!(spans, expected, "{name}: spans that were exported");
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
