//! With a receiver that takes nothing and far more spans than there is room for, what waits stays within its part of the
//! memory limit and of the disk, and every span is accounted for.

use std::time::{Duration, Instant};

use tracecast::config::{Config, Protocol, Signal, Spool};
use tracecast::prelude::*;
use tracecast::{Guard, Report};

use crate::faulty::{Faulty, Folder, Mood};
use crate::turn::turn;

tracecast::tc_keys! {
    /// Something long.
    pub id payload: str = "tc.fault.payload";
}

#[tc_span("Fault/Fill", attrs(payload = text))]
fn fill(text: &str) {
    let _ = text;
}

const LIMIT: usize = 4 << 20;
const DISK: u64 = 1 << 20;
const TEXT: usize = 400;
const BATCH: u32 = 64;
/// The request that is just being made comes to those that wait.
const MAKING: usize = BATCH as usize * (TEXT + 300);

/// A gauge, summed over its labels.
fn gauge(guard: &Guard, name: &str) -> f64 {
    let text = guard.render_prometheus();
    let lines = text.lines().filter(|line| line.split(['{', ' ']).next() == Some(name));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}

/// Fills it up until enough was lost for want of room, and there is much on disk.
fn check(protocol: Protocol, fault: Mood, spool: bool) {
    let _turn = turn();
    let (receiver, folder) = (Faulty::start(protocol, fault, false), Folder::new("faults-memory"));
    let config = receiver.configure(Config::new()).with_memory_limit(LIMIT).with_exporters(Signal::Logs, Vec::new());
    let mut config = config.with_span_batch(|batch| batch.size = BATCH);
    if spool {
        config = config.with_spool(Spool::new(&folder.0).with_max_bytes(DISK)).with_timeout(Duration::from_millis(200));
    }
    let telemetry = config.init().unwrap();
    let text = "x".repeat(TEXT);
    // What the test before has left behind in memory is taken over.
    let mut made = telemetry.flush(Duration::ZERO).spans_ended;
    let (mut most_waiting, mut most_on_disk) = (0.0_f64, 0.0_f64);
    let began = Instant::now();
    let report = loop {
        // A bit less than the recorder has room for, so that it is not the one that drops them.
        (0..500).for_each(|_| fill(&text));
        made += 500;
        // While a request is on its way the rest waits in memory, also where there is a disk.
        let time = if spool && fault == Mood::BlackHole { 300 } else { 20 };
        let report: Report = telemetry.flush(Duration::from_millis(time));
        accounted(&report, made);
        most_waiting = most_waiting.max(gauge(&telemetry, "tc_export_queue_bytes"));
        most_on_disk = most_on_disk.max(gauge(&telemetry, "tc_spool_bytes"));
        if report.spans_dropped > 2_000 && (!spool || most_on_disk > (DISK / 2) as f64) {
            break report;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{most_on_disk} bytes on disk, {report}");
    };
    // All but what is reserved for others.
    let bound = LIMIT / 8 * 5 + MAKING;
    assert!(most_waiting <= bound as f64, "{most_waiting} bytes wait, {bound} may");
    if spool {
        assert!(most_on_disk <= DISK as f64, "{most_on_disk} bytes on disk");
        assert!(report.spans_spooled > 0, "{report}");
    } else {
        assert!(most_waiting > (LIMIT / 8) as f64, "{most_waiting} bytes are not enough to fill it");
    }
    let report = telemetry.shutdown(Duration::from_millis(300));
    accounted(&report, made);
    assert_eq!(report.spans_exported, 0, "{report}");
    println!("{protocol:?} {fault:?}: {most_waiting} bytes waited, {most_on_disk} on disk; {report}");
    let files = std::fs::read_dir(&folder.0).unwrap().map(|file| file.unwrap().metadata().unwrap().len());
    let on_disk: u64 = files.sum();
    assert!(on_disk <= DISK, "{on_disk} bytes on disk");
}

#[track_caller]
fn accounted(report: &Report, made: u64) {
    let Report { spans_ended, spans_exported, spans_dropped, spans_pending, spans_spooled, .. } = *report;
    assert_eq!(spans_ended, spans_exported + spans_dropped + spans_pending + spans_spooled, "{report}");
    assert_eq!(spans_ended, made, "{report}");
}

#[test]
fn a_receiver_that_is_down_over_http() {
    check(Protocol::HttpProtobuf, Mood::Absent, false);
}

#[test]
fn a_receiver_that_is_down_over_grpc() {
    check(Protocol::Grpc, Mood::Absent, false);
}

#[test]
fn a_black_hole_over_http() {
    check(Protocol::HttpProtobuf, Mood::BlackHole, false);
}

#[test]
fn a_black_hole_over_grpc() {
    check(Protocol::Grpc, Mood::BlackHole, false);
}

#[test]
fn a_receiver_that_is_down_over_http_and_a_small_disk() {
    check(Protocol::HttpProtobuf, Mood::Absent, true);
}

#[test]
fn a_receiver_that_is_down_over_grpc_and_a_small_disk() {
    check(Protocol::Grpc, Mood::Absent, true);
}

#[test]
fn a_black_hole_over_http_and_a_small_disk() {
    check(Protocol::HttpProtobuf, Mood::BlackHole, true);
}

#[test]
fn a_black_hole_over_grpc_and_a_small_disk() {
    check(Protocol::Grpc, Mood::BlackHole, true);
}

#[test]
fn an_end_with_a_full_memory_puts_everything_on_disk() {
    let _turn = turn();
    for protocol in [Protocol::HttpProtobuf, Protocol::Grpc] {
        let (receiver, folder) = (Faulty::start(protocol, Mood::BlackHole, false), Folder::new("faults-full"));
        let config = receiver.configure(Config::new()).with_memory_limit(LIMIT);
        let telemetry = config.with_spool(Spool::new(&folder.0)).init().unwrap();
        let inherited = telemetry.flush(Duration::from_millis(50)).spans_ended;
        // More than the part that waiting requests have, and less than the recorder's. The first is being sent.
        let text = "x".repeat(TEXT);
        (0..500).for_each(|_| fill(&text));
        telemetry.flush(Duration::from_millis(50));
        (0..2_500).for_each(|_| fill(&text));
        // A quarter of it, and a second at most, is kept for the disk: enough on a busy machine too.
        let report = telemetry.shutdown(Duration::from_secs(4));
        accounted(&report, inherited + 3_000);
        assert!(report.spans_pending == 0 && report.spans_spooled >= 3_000, "{report}");
    }
}
