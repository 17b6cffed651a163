//! Logging never takes the host down, never loops and never grows: panics, events within events, the exporting thread, a
//! full queue, threads that end.

use std::cell::RefCell;
use std::fmt;

use tracecast::__logs::{LogRecord, Options, TestLogs, suppressed};
use tracecast::OwnedValue;
use tracing::{debug, error, info, warn};
use tracing_subscriber::layer::SubscriberExt;

use crate::turn::turn;

/// Runs `f` under a subscriber with our layer.
fn with_layer<R>(f: impl FnOnce() -> R) -> R {
    tracing::subscriber::with_default(tracing_subscriber::registry().with(tracecast::logs::layer()), f)
}

fn messages(logs: &TestLogs) -> Vec<String> {
    let message = |line: &String| {
        let line: serde_json::Value = serde_json::from_str(line).expect(line);
        line["message"].as_str().unwrap().to_owned()
    };
    logs.lines().iter().map(message).collect()
}

fn attribute(record: &LogRecord, name: &str) -> Option<OwnedValue> {
    record.attributes.iter().find(|(given, _)| given == name).map(|(_, value)| value.clone())
}

/// Writes a part of itself, then panics.
struct Bad;

impl fmt::Display for Bad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("half")?;
        panic!("on purpose")
    }
}

#[test]
fn a_value_that_panics_leaves_what_it_wrote_and_the_rest_of_the_event() {
    let _turn = turn();
    let logs = TestLogs::start(Options::default());
    with_layer(|| {
        info!(before = 1, bad = %Bad, after = 2, "message {Bad}");
        info!("next");
    });
    let [first, next] = <[LogRecord; 2]>::try_from(logs.records()).unwrap();
    assert_eq!((&*first.body, &*next.body), ("message half", "next"));
    for (name, value) in [("before", OwnedValue::I64(1)), ("bad", "half".into()), ("after", OwnedValue::I64(2))] {
        assert_eq!(attribute(&first, name), Some(value));
    }
    assert_eq!(messages(&logs), ["message half", "next"]);
}

#[test]
fn a_redaction_hook_that_panics_lets_nothing_through() {
    let _turn = turn();
    let logs = TestLogs::start(Options { redact: Some(|_, _| panic!("on purpose")), ..Options::default() });
    with_layer(|| info!(secret = "hunter2", "hunter2"));
    let lines = logs.lines();
    assert!(lines.len() == 1 && !lines[0].contains("hunter2"), "{lines:?}");
}

/// Logs while it is written, and so does what it logs.
struct Chatty;

impl fmt::Display for Chatty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        error!(again = %Chatty, "from inside");
        log::error!("from inside {Chatty}");
        f.write_str("chatty")
    }
}

#[test]
fn an_event_within_an_event_is_dropped_and_counted() {
    let _turn = turn();
    // `tracing` itself leaves out events within events where a thread has a subscriber of its own, so it is for the global
    // one, and for `log`.
    let logs = TestLogs::start(Options { install: true, ..Options::default() });
    info!(value = %Chatty, "outer {Chatty}");
    assert_eq!(messages(&logs), ["outer chatty"]);
    assert_eq!(logs.counts(), [5, 4, 1]);
    log::info!("outer {Chatty}");
    assert_eq!(messages(&logs), ["outer chatty"]);
    assert_eq!(logs.counts(), [8, 6, 2]);
}

#[test]
fn the_exporting_thread_makes_no_records_and_lines_from_warn_on() {
    let _turn = turn();
    let logs = TestLogs::start(Options::default());
    with_layer(|| {
        suppressed(|| {
            debug!("below");
            info!("below");
            suppressed(|| warn!("warning"));
            error!("error");
            info!("still below");
        });
        info!("outside");
        std::thread::scope(|scope| {
            suppressed(|| scope.spawn(|| with_layer(|| info!("another thread"))).join().unwrap());
        });
    });
    assert_eq!(messages(&logs), ["warning", "error", "outside", "another thread"]);
    let records: Vec<_> = logs.records().into_iter().map(|record| record.body).collect();
    assert_eq!(records, ["outside", "another thread"]);
    assert_eq!(logs.counts(), [2, 0, 0]);
}

#[test]
fn a_full_queue_drops_the_newest_and_counts_it() {
    let _turn = turn();
    let logs = TestLogs::start(Options { queue_bytes: 50_000, ..Options::default() });
    let text = "x".repeat(1_000);
    with_layer(|| (0..100).for_each(|at| info!(at, text, "m")));
    let [recorded, dropped, waiting] = logs.counts();
    assert_eq!((recorded, dropped + waiting), (100, 100));
    assert!((20..50).contains(&waiting), "{waiting} of at least 1,000 bytes each");
    let kept: Vec<_> = logs.records().iter().map(|record| attribute(record, "at").unwrap()).collect();
    let oldest: Vec<_> = (0..waiting).map(|at| OwnedValue::I64(at as i64)).collect();
    assert_eq!(kept, oldest);
    // What was taken makes room.
    with_layer(|| info!("after"));
    assert_eq!(logs.counts(), [101, dropped, 1]);
    assert_eq!(logs.lines().len(), 101, "lines do not depend on the queue");
}

#[test]
fn nothing_is_lost_when_many_threads_log_and_one_takes() {
    let _turn = turn();
    let logs = TestLogs::start(Options::default());
    let mut taken = 0;
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| with_layer(|| (0..500).for_each(|at| info!(at, "m"))))).collect();
        while threads.iter().any(|thread| !thread.is_finished()) {
            taken += logs.records().len();
            std::thread::yield_now();
        }
    });
    taken += logs.records().len();
    assert_eq!((taken, logs.counts()), (2_000, [2_000, 0, 0]));
    assert_eq!(logs.lines().len(), 2_000);
}

/// Logs when its thread's locals are destroyed, in a way that would loop.
struct AtTheEnd;

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        info!(value = %Chatty, "at the end");
    }
}

thread_local!(static LAST: RefCell<Option<AtTheEnd>> = const { RefCell::new(None) });

#[test]
fn a_thread_that_ends_can_still_log() {
    let _turn = turn();
    let logs = TestLogs::start(Options { install: true, ..Options::default() });
    let run = || {
        LAST.set(Some(AtTheEnd));
        // The buffers come after it and so go before it.
        info!("in the thread");
    };
    std::thread::spawn(run).join().unwrap();
    assert_eq!(messages(&logs), ["in the thread", "at the end"]);
}

#[cfg(all(unix, not(miri)))]
#[test]
fn a_forked_child_writes_lines_and_makes_no_records() {
    let _turn = turn();
    let logs = TestLogs::start(Options { install: true, ..Options::default() });
    // SAFETY: the child only runs the code below and exits.
    unsafe {
        match libc::fork() {
            0 => {
                libc::alarm(20);
                info!("in the child");
                let is_right = messages(&logs) == ["in the child"] && logs.counts() == [0, 0, 0];
                libc::_exit(i32::from(!is_right));
            }
            child => {
                let mut status = 0;
                libc::waitpid(child, &mut status, 0);
                assert_eq!(status, 0, "the child did something else");
            }
        }
    }
    info!("in the parent");
    assert_eq!((messages(&logs), logs.counts()), (vec!["in the parent".to_owned()], [1, 0, 1]));
}
