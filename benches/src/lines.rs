//! Times JSON log lines on standard error, beside `tracing_subscriber::fmt`, on the logging thread. Standard error is
//! `/dev/null` meanwhile. A pipe would compare different guarantees: our lines are dropped when it is full, while the
//! peer waits for the reader.

use std::fs::OpenOptions;
use std::os::fd::AsRawFd as _;
use std::time::Instant;

use tracecast::config::{Config, LogFormat};
use tracing::Dispatch;
use tracing::dispatcher::with_default;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::report::{Report, Section, figure};
use crate::stats::Median;
use crate::timed::Timed;

/// Lines per round.
const LINES: u64 = 200;
const ROUNDS: usize = 400;

pub fn report(report: &mut Report) {
    let telemetry = Config::new()
        .with_log_filter("info".parse().expect("a filter"))
        .with_log_format(LogFormat::Json)
        .init()
        .expect("telemetry starts");
    let ours = Dispatch::new(tracing_subscriber::registry().with(tracecast::logs::layer()));
    let theirs = Dispatch::new(
        tracing_subscriber::registry().with(tracing_subscriber::fmt::layer().json().with_writer(std::io::stderr)),
    );
    let mut timed = Timed::of(["tracecast", "tracing_subscriber::fmt, JSON"].into_iter());
    without_standard_error(|| {
        for _ in 0..ROUNDS {
            for (dispatch, timed) in [&ours, &theirs].into_iter().zip(&mut timed) {
                // An untimed round first, because the other contender has evicted the caches.
                with_default(dispatch, lines);
                timed.rounds.push(with_default(dispatch, lines));
            }
        }
    });
    drop(telemetry);
    let ratio = Median::of_ratios(&timed[0].rounds, &timed[1].rounds);
    report.goal("log line as JSON", ratio.value, 1.0, "x `tracing_subscriber::fmt` with JSON", "");
    let mut section = Section::new("A log line as JSON, in interleaved rounds", ["library", "ns, best", "median"]);
    for contender in &timed {
        section.row([contender.name.to_owned(), figure(contender.best()), contender.median().to_string()]);
    }
    section.note(format!("Ours take {ratio} x the time of theirs, round by round."));
    report.add(section);
}

/// Writes the lines of a round, and returns nanoseconds per line.
fn lines() -> f64 {
    let start = Instant::now();
    for number in 0..LINES {
        tracing::info!(number, artifact = "llama-70b", "replica loaded");
    }
    start.elapsed().as_nanos() as f64 / LINES as f64
}

fn without_standard_error(measure: impl FnOnce()) {
    let null = OpenOptions::new().write(true).open("/dev/null").expect("/dev/null");
    // SAFETY: these calls only take descriptors, and both are open.
    let kept = unsafe { libc::dup(libc::STDERR_FILENO) };
    // SAFETY: as above.
    unsafe { libc::dup2(null.as_raw_fd(), libc::STDERR_FILENO) };
    measure();
    // SAFETY: as above; the copy is closed only here.
    unsafe { (libc::dup2(kept, libc::STDERR_FILENO), libc::close(kept)) };
}
