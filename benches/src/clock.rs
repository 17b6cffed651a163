//! How far span times are from the wall clock after a minute, with a drain each second and without one in between.

use std::time::{Duration, SystemTime};

use tracecast::{Recording, RecordingConfig};

use crate::work;

pub fn print() {
    let recording = Recording::start(RecordingConfig::default()).expect("nothing else records");
    println!("## Span times against the wall clock\n\n| after | drained each second | error |\n|---|---|---|");
    for drains in [true, false] {
        for _ in 0..60 {
            std::thread::sleep(Duration::from_secs(1));
            if drains {
                recording.drain();
            }
        }
        println!("| 60 s | {} | {:?} |", if drains { "yes" } else { "no" }, error(&recording));
    }
    println!();
}

/// The least distance of a span's start from the wall clock read just before it, of a few: the rest is the machine.
fn error(recording: &Recording) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..100 {
        let before = SystemTime::now();
        work::span(1);
        let after = SystemTime::now();
        for span in recording.drain() {
            let start = span.start_time();
            let early = before.duration_since(start).unwrap_or_default();
            let late = start.duration_since(after).unwrap_or_default();
            best = best.min(early.max(late));
        }
    }
    best
}
