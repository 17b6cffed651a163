//! Captures in a program that has a subscriber, or telemetry with logs. What is global is the process's, so each test has one of
//! its own.

use tracecast::__logs::{Options, TestLogs};
use tracecast::testing::capture;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

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

/// A program installs its own subscriber and logger whenever it likes; until then nothing sees its events.
#[test]
fn a_capture_installs_nothing() {
    if !is_alone(module_path!(), "a_capture_installs_nothing") {
        return;
    }
    struct Nobody;
    impl log::Log for Nobody {
        fn enabled(&self, _: &log::Metadata<'_>) -> bool {
            false
        }
        fn log(&self, _: &log::Record<'_>) {}
        fn flush(&self) {}
    }
    let work = || {
        tracing::info!("by tracing");
        log::info!("by log");
    };
    let captured = std::panic::AssertUnwindSafe(capture(work));
    assert_eq!(captured.logs, []);
    let panic = std::panic::catch_unwind(|| captured.assert_logs("")).unwrap_err();
    let text = panic.downcast_ref::<&str>().unwrap();
    assert!(text.contains("call `tracecast::testing::record_logs()` before the capture"), "{text}");

    tracing_subscriber::registry().with(tracecast::logs::layer()).init();
    log::set_logger(&Nobody).unwrap();
    capture(work).assert_logs("INFO logs::captured: by tracing");
}

#[test]
fn captured_events_go_to_the_capture_alone() {
    if !is_alone(module_path!(), "captured_events_go_to_the_capture_alone") {
        return;
    }
    let logs = TestLogs::start(Options { filter: "warn", install: true, ..Options::default() });
    tracing::info!("not wanted");
    let captured = capture(|| {
        tracing::info!("captured");
        log::info!("captured too");
    });
    captured.assert_logs("INFO logs::captured: captured\nINFO logs::captured: captured too");
    tracing::warn!("after");
    tracing::info!("not wanted");
    log::info!("not wanted");
    let bodies: Vec<_> = logs.records().into_iter().map(|record| record.body).collect();
    assert_eq!((bodies, logs.lines().len()), (vec!["after".into()], 1));
}
