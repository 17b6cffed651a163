//! Starts each peer as its documentation shows, with an exporter that counts spans and discards them; end to end, with
//! one that sends to a receiver.

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

/// Adds spans that an exporter received.
fn saw(spans: usize) {
    SEEN.fetch_add(spans as u64, Relaxed);
}

/// Returns how many spans exporters have received since the start.
pub fn seen() -> u64 {
    SEEN.load(Relaxed)
}

/// Checks that an exporter gets exactly this number of spans: a library that records nothing by mistake would be the
/// fastest.
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
