//! Blocks and chunks follow the memory limit: bursts of threads and of open spans lose nothing while there is memory.
//!
//! A process has one recorder, so each burst is a program of its own.
#![cfg(all(target_os = "linux", feature = "otlp", not(miri)))]

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use tracecast::config::Config;
use tracecast::prelude::*;
use tracecast::{Kind, Report, Span};
use tracecast_receiver::Receiver;

use crate::child::Child;

#[tc_span("Burst/Step")]
fn step() {}

/// The stack of a thread that does almost nothing.
const STACK: usize = 64 << 10;

fn spawn(work: impl FnOnce() + Send + 'static) -> thread::JoinHandle<()> {
    thread::Builder::new().stack_size(STACK).spawn(work).unwrap()
}

/// Five times a thousand threads that make one span each.
fn short_threads() -> u64 {
    for _ in 0..5 {
        let threads: Vec<_> = (0..1_000).map(|_| spawn(step)).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
    5_000
}

/// Threads that make a few spans and all live on.
fn live_threads() -> u64 {
    let all_done = Arc::new(Barrier::new(3_000));
    let threads = (0..3_000).map(|_| {
        let all_done = all_done.clone();
        spawn(move || {
            (0..5).for_each(|_| step());
            all_done.wait();
        })
    });
    threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
    15_000
}

/// Spans that are all open at once.
fn open_spans() -> u64 {
    let spans: Vec<_> = (0..100_000).map(|_| Span::builder("Burst/Open", Kind::Internal).start()).collect();
    drop(spans);
    100_000
}

#[test]
fn program() {
    let Some(what) = crate::child::role() else { return };
    let receiver = Receiver::start();
    let limit = if what == "open" { 128 << 20 } else { 64 << 20 };
    let telemetry = Config::new().with_endpoint(receiver.endpoint()).with_memory_limit(limit).init().unwrap();
    let made = match what.as_str() {
        "short" => short_threads(),
        "live" => live_threads(),
        _ => open_spans(),
    };
    let report: Report = telemetry.shutdown(Duration::from_secs(30));
    assert_eq!((report.spans_ended, report.spans_dropped), (made, 0), "{report}");
    assert_eq!(receiver.span_names().len() as u64, made, "{report}");
    println!("nothing was lost");
}

fn assert_lossless(what: &str) {
    let output = Child::new(module_path!(), "program", what).run();
    assert!(output.succeeded && output.text.contains("nothing was lost"), "{}", output.text);
}

#[test]
fn thousands_of_short_threads_lose_nothing() {
    assert_lossless("short");
}

#[test]
fn thousands_of_live_threads_lose_nothing() {
    assert_lossless("live");
}

#[test]
fn a_hundred_thousand_open_spans_lose_nothing() {
    assert_lossless("open");
}
