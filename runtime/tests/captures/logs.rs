//! Events of `tracing` and `log` in captures, in a program without a subscriber and a logger of its own.

use std::fmt;

use tracecast::Context;
use tracecast::config::Level;
use tracecast::prelude::*;
use tracecast::testing::{capture, capture_async, record_logs};

#[tc_span("Logs/Work")]
fn work(n: u64) {
    tracing::info!(n, path = "a b", "working");
    tracing::debug!("a detail");
    log::warn!(target: "store", "from {}", "log");
}

#[test]
fn events_are_collected_with_fields_and_ids() {
    record_logs();
    let captured = capture(|| {
        tracing::error!(message = "field", "text\nof two lines");
        work(7);
    });
    captured.assert_logs(
        r#"
        ERROR captures::logs: text\nof two lines message=field
        INFO captures::logs: working n=7 path="a b"
        WARN store: from log
    "#,
    );
    let levels: Vec<_> = captured.logs.iter().map(|log| log.level).collect();
    assert_eq!(levels, [Level::Error, Level::Info, Level::Debug, Level::Warn]);
    assert_eq!(captured.logs[2].message, "a detail");
    let (outside, inside, span) = (&captured.logs[0], &captured.logs[1], captured.span("Logs/Work"));
    assert_eq!((inside.trace_id, inside.span_id), (Some(span.trace_id), Some(span.span_id)));
    assert_eq!((outside.trace_id, outside.span_id), (None, None));
    let keys: Vec<_> = inside.attributes.iter().map(|attribute| &*attribute.key).collect();
    assert_eq!(keys, ["n", "path"]);
}

#[test]
fn captures_on_parallel_threads_see_their_own_events() {
    record_logs();
    let run = |n: u64| {
        for _ in 0..if cfg!(miri) { 2 } else { 100 } {
            let captured = capture(|| {
                let context = Context::current();
                let below = || context.run(|| tracing::info!(n, "below"));
                std::thread::scope(|scope| drop(scope.spawn(below).join()));
                tracing::info!(n, "above");
                // In no context.
                std::thread::scope(|scope| drop(scope.spawn(|| tracing::info!(n, "outside")).join()));
            });
            captured.assert_logs(&format!("INFO captures::logs: below n={n}\nINFO captures::logs: above n={n}"));
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|n| drop(scope.spawn(move || run(n)))));
}

#[tc_span("Logs/Task")]
async fn task(n: u64) {
    tokio::task::yield_now().await;
    tracing::info!(n, "in a task");
}

#[cfg(not(miri))] // tokio's threads are beyond it
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn events_of_spawned_tasks_stay_with_their_capture() {
    record_logs();
    let all = (0..16_u64).map(|n| async move {
        let captured = capture_async(async || {
            let tasks: Vec<_> = (0..4).map(|_| tokio::spawn(task(n))).collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
        captured.await.assert_logs(&format!("INFO captures::logs: in a task n={n}\n").repeat(4));
    });
    futures::future::join_all(all).await;
}

#[test]
fn a_value_that_logs_or_panics_does_no_harm() {
    struct Logs;
    impl fmt::Display for Logs {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            tracing::info!("while printing");
            f.write_str("printed")
        }
    }
    struct Panics;
    impl fmt::Display for Panics {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("half")?;
            panic!("on purpose")
        }
    }
    record_logs();
    let captured = capture(|| {
        tracing::info!(value = %Logs, "one");
        tracing::info!(value = %Panics, "two");
    });
    captured.assert_logs("INFO captures::logs: one value=printed\nINFO captures::logs: two value=half");
}

#[test]
fn an_assertion_shows_both() {
    record_logs();
    let captured = std::panic::AssertUnwindSafe(capture(|| tracing::warn!("this")));
    let panic = std::panic::catch_unwind(|| captured.assert_logs("WARN captures::logs: that")).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    let expected =
        "the log lines differ\nexpected:\n- WARN captures::logs: that\ncaptured:\n+ WARN captures::logs: this\n";
    assert!(text.starts_with(expected), "{text}");
}
