//! Spans and log records that cannot be sent wait on disk, and are sent when the receiver is back, also after a restart.
#![cfg(feature = "otlp")]

#[path = "support/receiver.rs"]
mod receiver;

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use receiver::Receiver;
use tracecast::config::{Config, Signal, Spool};
use tracecast::prelude::*;

#[tc_span("Store/Load")]
fn load() {}

/// Telemetry runs once in a process, so the tests of this file take turns.
static TURN: Mutex<()> = Mutex::new(());

const LONG: Duration = Duration::from_secs(20);

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        Folder(std::env::temp_dir().join(format!("tracecast-disk-{name}-{}", std::process::id())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn config(receiver: &Receiver, folder: &Folder) -> Config {
    Config::new()
        .with_endpoint(receiver.endpoint())
        .with_exporters(Signal::Metrics, Vec::new())
        .with_exporters(Signal::Logs, Vec::new())
        .with_spool(Spool::new(&folder.0))
}

fn until(condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < LONG, "it never came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn what_cannot_be_sent_is_sent_when_the_receiver_is_back() {
    let _turn = TURN.lock().unwrap();
    let (receiver, folder) = (Receiver::start(), Folder::new("back"));
    receiver.set_sick(true);
    let telemetry = config(&receiver, &folder).init().unwrap();
    (0..1_000).for_each(|_| load());
    let report = telemetry.flush(Duration::from_secs(5));
    assert_eq!((report.spans_ended, report.spans_spooled, report.spans_left), (1_000, 1_000, 0), "{report}");
    receiver.set_sick(false);
    until(|| telemetry.flush(LONG).spans_exported == 1_000);
    let report = telemetry.shutdown(LONG);
    assert_eq!((report.spans_spooled, report.spans_dropped, report.spans_left), (0, 0, 0), "{report}");
    assert_eq!(receiver.span_names().len(), 1_000);
}

#[test]
fn what_is_left_at_the_end_is_sent_by_the_next_start() {
    let _turn = TURN.lock().unwrap();
    let (receiver, folder) = (Receiver::start(), Folder::new("restart"));
    receiver.set_sick(true);
    let telemetry = config(&receiver, &folder).init().unwrap();
    (0..700).for_each(|_| load());
    let report = telemetry.shutdown(Duration::from_secs(1));
    assert_eq!((report.spans_ended, report.spans_spooled, report.spans_left), (700, 700, 0), "{report}");
    assert!(report.to_string().contains("700 on disk"), "{report}");

    receiver.set_sick(false);
    let telemetry = config(&receiver, &folder).init().unwrap();
    load();
    until(|| receiver.span_names().len() == 701);
    let report = telemetry.shutdown(LONG);
    assert_eq!((report.spans_ended, report.spans_exported, report.spans_replayed), (1, 1, 700), "{report}");
}

#[test]
fn a_directory_that_cannot_be_used_is_one_warning() {
    let _turn = TURN.lock().unwrap();
    let receiver = Receiver::start();
    let mut config = config(&receiver, &Folder::new("none"));
    config.spool = Some(Spool::new("/dev/null/spool"));
    let telemetry = config.init().unwrap();
    load();
    assert_eq!(telemetry.shutdown(LONG).spans_exported, 1);
}
