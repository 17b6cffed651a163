//! Measures how far span times drift from the wall clock in a minute, with a drain per second and without drains.

use std::time::{Duration, SystemTime};

use tracecast::testing::{Recording, RecordingConfig};

use crate::report::{Report, Section};
use crate::work;

pub fn report(report: &mut Report) {
    let recording = Recording::start(RecordingConfig::default()).expect("nothing else records");
    let mut section = Section::new("Span times against the wall clock", ["after", "drained each second", "error"]);
    for drains in [true, false] {
        for _ in 0..60 {
            std::thread::sleep(Duration::from_secs(1));
            if drains {
                recording.drain();
            }
        }
        let drained = if drains { "yes" } else { "no" };
        section.row(["60 s".to_owned(), drained.to_owned(), format!("{:?}", error(&recording))]);
    }
    report.add(section);
}

/// The least difference, over several spans, between a span's start and the wall clock read just before it: more is the
/// machine's delay.
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
