//! Spans and log records that cannot be sent wait on disk, and are sent when the receiver is back, also after a restart.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tracecast::config::{Config, Signal, Spool};
use tracecast::prelude::*;
use tracecast_receiver::Receiver;

use crate::turn::turn;

#[tc_span("Store/Load")]
fn load() {}

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
        .with_span_batch(|batch| batch.delay = Duration::from_millis(50))
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
    let _turn = turn();
    let (receiver, folder) = (Receiver::start(), Folder::new("back"));
    receiver.set_sick(true);
    let telemetry = config(&receiver, &folder).init().unwrap();
    (0..1_000).for_each(|_| load());
    let report = telemetry.flush(Duration::from_secs(5));
    assert_eq!((report.spans_ended, report.spans_spooled, report.spans_pending), (1_000, 1_000, 0), "{report}");
    receiver.set_sick(false);
    until(|| telemetry.flush(LONG).spans_exported == 1_000);
    let report = telemetry.shutdown(LONG);
    assert_eq!((report.spans_spooled, report.spans_dropped, report.spans_pending), (0, 0, 0), "{report}");
    assert_eq!(receiver.span_names().len(), 1_000);
}

#[test]
fn what_is_left_at_the_end_is_sent_by_the_next_start() {
    let _turn = turn();
    let (receiver, folder) = (Receiver::start(), Folder::new("restart"));
    receiver.set_sick(true);
    let telemetry = config(&receiver, &folder).init().unwrap();
    (0..700).for_each(|_| load());
    let report = telemetry.shutdown(Duration::from_secs(1));
    assert_eq!((report.spans_ended, report.spans_spooled, report.spans_pending), (700, 700, 0), "{report}");
    assert!(report.to_string().contains("700 on disk"), "{report}");

    receiver.set_sick(false);
    let telemetry = config(&receiver, &folder).init().unwrap();
    load();
    until(|| receiver.span_names().len() == 701);
    let report = telemetry.shutdown(LONG);
    assert_eq!((report.spans_ended, report.spans_exported, report.spans_replayed), (1, 1, 700), "{report}");
}

/// As an `emptyDir` of Kubernetes is mounted.
#[test]
#[cfg(unix)]
fn a_volume_that_everybody_can_write_to_holds_a_spool() {
    use std::os::unix::fs::PermissionsExt as _;
    let _turn = turn();
    let (receiver, folder) = (Receiver::start(), Folder::new("volume"));
    std::fs::create_dir(&folder.0).unwrap();
    std::fs::set_permissions(&folder.0, std::fs::Permissions::from_mode(0o777)).unwrap();
    receiver.set_sick(true);
    let telemetry = config(&receiver, &folder).init().unwrap();
    (0..70).for_each(|_| load());
    let report = telemetry.shutdown(Duration::from_secs(5));
    assert_eq!((report.spans_spooled, report.spans_pending), (70, 0), "{report}");
    let own: Vec<_> = std::fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap()).collect();
    assert_eq!(own.iter().map(|own| own.metadata().unwrap().permissions().mode() & 0o777).collect::<Vec<_>>(), [0o700]);

    receiver.set_sick(false);
    let telemetry = config(&receiver, &folder).init().unwrap();
    until(|| receiver.span_names().len() == 70);
    assert_eq!(telemetry.shutdown(LONG).spans_replayed, 70);
}

#[test]
fn files_that_somebody_removed_are_not_on_disk() {
    let _turn = turn();
    let (receiver, folder) = (Receiver::start(), Folder::new("removed"));
    receiver.set_sick(true);
    let telemetry = config(&receiver, &folder).init().unwrap();
    (0..600).for_each(|_| load());
    let report = telemetry.flush(Duration::from_secs(5));
    assert_eq!((report.spans_ended, report.spans_spooled, report.spans_dropped), (600, 600, 0), "{report}");
    let files = || std::fs::read_dir(&folder.0).unwrap().map(|file| file.unwrap().path());
    std::fs::remove_file(files().min().unwrap()).unwrap();
    // What is just being tried again is in memory until then.
    until(|| telemetry.flush(LONG).spans_dropped > 0);
    let report = telemetry.flush(LONG);
    assert!(report.spans_dropped < 600 && report.spans_spooled == 600 - report.spans_dropped, "{report}");
    // The whole directory.
    std::fs::remove_dir_all(&folder.0).unwrap();
    until(|| telemetry.flush(LONG).spans_dropped == 600);
    assert_eq!(telemetry.flush(LONG).spans_spooled, 0);
    receiver.set_sick(false);
    load();
    until(|| telemetry.flush(LONG).spans_exported == 1);
    let report = telemetry.shutdown(LONG);
    assert_eq!((report.spans_ended, report.spans_exported, report.spans_dropped), (601, 1, 600), "{report}");
}

#[test]
fn a_directory_that_cannot_be_used_is_one_warning() {
    let _turn = turn();
    let receiver = Receiver::start();
    let config = config(&receiver, &Folder::new("none")).with_spool(Spool::new("/dev/null/spool"));
    let telemetry = config.init().unwrap();
    load();
    assert_eq!(telemetry.shutdown(LONG).spans_exported, 1);
}
