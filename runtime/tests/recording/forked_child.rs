//! A forked child records nothing until it is told to, has ids of its own, and does not export its parent's records.

use std::io::Read;
use std::os::fd::FromRawFd;

use tracecast::prelude::*;
use tracecast::testing::{MetricsConfig, MetricsGuard, Recording, RecordingConfig, Temporality};

use crate::child::is_alone;

tc_metrics! {
    /// Counted in both processes.
    static COUNTED: Counter = "tc_counted_total";
}

#[tc_span("Fork/Work")]
fn work() {}

#[tc_span("Fork/Outer", heartbeat = "1s")]
fn fork_deep_inside(inherited: &Recording) -> Option<String> {
    fork_inside(inherited)
}

#[tc_span("Fork/Parent")]
fn fork_inside(inherited: &Recording) -> Option<String> {
    let mut ends = [0; 2];
    // SAFETY: plain system calls on memory of our own; the child only runs the code below and exits.
    unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        match libc::fork() {
            0 => {
                let report = in_child(inherited);
                libc::write(ends[1], report.as_ptr().cast(), report.len());
                libc::_exit(0);
            }
            child => {
                libc::close(ends[1]);
                let mut report = String::new();
                std::fs::File::from_raw_fd(ends[0]).read_to_string(&mut report).unwrap();
                let mut status = 0;
                libc::waitpid(child, &mut status, 0);
                assert_eq!(status, 0, "the child ended well");
                Some(report)
            }
        }
    }
}

/// What the child sees: is it off, how many spans does its own recording have, and their ids.
fn in_child(inherited: &Recording) -> String {
    work();
    let off = !tracecast::current().is_recording() && inherited.drain().is_empty();
    let Ok(recording) = Recording::start(RecordingConfig::default()) else { return "claimed".into() };
    {
        // A span of the child ends, and the parent's spans around it do not come back.
        let _scope = tc_scope!("Fork/Child");
    }
    work();
    let ids: Vec<_> = recording.drain().iter().map(|span| span.span_id.to_string()).collect();
    format!("{off} {}", ids.join(" "))
}

#[test]
fn the_child_is_off_until_told_and_has_ids_of_its_own() {
    if !is_alone(module_path!(), "the_child_is_off_until_told_and_has_ids_of_its_own") {
        return;
    }
    let recording = Recording::start(RecordingConfig::default()).unwrap();
    work();
    let report = fork_deep_inside(&recording).unwrap();
    work();
    work();
    let spans = recording.drain();
    assert_eq!(spans.len(), 5, "the parent goes on as before");
    let child: Vec<_> = report.split(' ').collect();
    assert_eq!((child[0], child.len()), ("true", 3), "{report}");
    for id in &child[1..] {
        assert!(spans.iter().all(|span| span.span_id.to_string() != *id), "{id} was given out twice");
    }
    let accounting = recording.accounting();
    assert_eq!((accounting.ended, accounting.taken, accounting.open), (5, 5, 0));
}

#[test]
fn a_fork_beside_a_busy_reader_does_not_hang_the_child() {
    if !is_alone(module_path!(), "a_fork_beside_a_busy_reader_does_not_hang_the_child") {
        return;
    }
    // From the first use on, forks are watched.
    tracecast::testing::capture(work);
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let reader = std::thread::spawn({
        let stop = stop.clone();
        move || {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                tracecast::testing::capture(work);
            }
        }
    });
    for _ in 0..50 {
        // SAFETY: the child only runs the code below and exits.
        unsafe {
            match libc::fork() {
                0 => {
                    libc::alarm(20);
                    tracecast::testing::capture(work);
                    libc::_exit(0);
                }
                child => {
                    let mut status = 0;
                    libc::waitpid(child, &mut status, 0);
                    assert_eq!(status, 0, "the child hung or crashed");
                }
            }
        }
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    reader.join().unwrap();
}

/// What a child says of metrics: what it inherited, and what it counts itself once they are on.
fn metrics_in_child(inherited: &mut tracecast::testing::Reader) -> String {
    COUNTED.add(10_u64, ());
    let (was_on, old) = (COUNTED.is_on(), inherited.snapshot().to_string());
    let Ok(metering) = MetricsGuard::start(MetricsConfig::default()) else { return "claimed".into() };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| COUNTED.add(1_u64, ()));
        }
    });
    COUNTED.add(1_u64, ());
    format!("{was_on} {old:?} {}", metering.reader(Temporality::Cumulative).snapshot())
}

#[test]
fn metrics_of_the_child_start_from_nothing_once_they_are_on() {
    if !is_alone(module_path!(), "metrics_of_the_child_start_from_nothing_once_they_are_on") {
        return;
    }
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let mut reader = metering.reader(Temporality::Cumulative);
    COUNTED.add(3_u64, ());
    let mut ends = [0; 2];
    // SAFETY: plain system calls on memory of our own; the child only runs the code below and exits.
    unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        match libc::fork() {
            0 => {
                libc::alarm(20);
                let report = metrics_in_child(&mut reader);
                libc::write(ends[1], report.as_ptr().cast(), report.len());
                libc::_exit(0);
            }
            child => {
                libc::close(ends[1]);
                let mut report = String::new();
                std::fs::File::from_raw_fd(ends[0]).read_to_string(&mut report).unwrap();
                let mut status = 0;
                libc::waitpid(child, &mut status, 0);
                assert_eq!((status, report.as_str()), (0, "false \"\" tc_counted_total 5\n"));
            }
        }
    }
    COUNTED.add(1_u64, ());
    assert_eq!(reader.snapshot().to_string(), "tc_counted_total 4\n", "the parent goes on as before");
}
