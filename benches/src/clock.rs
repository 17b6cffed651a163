//! How far span times are from the wall clock after a minute, with a drain each second and without one in between.

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
