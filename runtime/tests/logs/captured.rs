//! Captures in a program that has a subscriber, or telemetry with logs. What is global is the process's, so each test has one of
//! its own.

use tracecast::__logs::{Door, Options};
use tracecast::testing::capture;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::child::is_alone;

#[test]
fn a_subscriber_of_the_program_needs_our_layer() {
    if !is_alone(module_path!(), "a_subscriber_of_the_program_needs_our_layer") {
        return;
    }
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(tracecast::logs::layer())).unwrap();
    capture(|| tracing::info!("seen")).assert_logs("INFO logs::captured: seen");
    let without = || tracing::subscriber::with_default(tracing_subscriber::registry(), || tracing::info!("not seen"));
    capture(without).assert_logs("");
}

#[test]
fn captured_events_go_to_the_capture_alone() {
    if !is_alone(module_path!(), "captured_events_go_to_the_capture_alone") {
        return;
    }
    let door = Door::open(Options { filter: "warn", install: true, ..Options::default() });
    tracing::info!("not wanted");
    let captured = capture(|| {
        tracing::info!("captured");
        log::info!("captured too");
    });
    captured.assert_logs("INFO logs::captured: captured\nINFO logs::captured: captured too");
    tracing::warn!("after");
    tracing::info!("not wanted");
    log::info!("not wanted");
    let bodies: Vec<_> = door.records().into_iter().map(|record| record.body).collect();
    assert_eq!((bodies, door.lines().len()), (vec!["after".into()], 1));
}
