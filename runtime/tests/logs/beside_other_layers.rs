//! Our layer in a subscriber of the user's: other layers see what they would see without it, and what is behind it can be
//! swapped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tracecast::__logs::{Options, TestLogs};
use tracing::{Event, Subscriber, debug, error, info, trace, warn};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use crate::turn::turn;

/// Counts the events that it sees.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicU64>);

impl<S: Subscriber> Layer<S> for Counting {
    fn on_event(&self, _: &Event<'_>, _: Context<'_, S>) {
        self.0.fetch_add(1, Relaxed);
    }
}

fn messages(logs: &TestLogs) -> Vec<String> {
    let message = |line: &String| {
        let line: serde_json::Value = serde_json::from_str(line).expect(line);
        line["message"].as_str().unwrap().to_owned()
    };
    logs.lines().iter().map(message).collect()
}

/// One event of each level, from the same callsites each time.
fn each_level() {
    error!("error");
    warn!("warn");
    info!("info");
    debug!("debug");
    trace!("trace");
}

#[test]
fn other_layers_see_everything_on_either_side() {
    let _turn = turn();
    let (below, above) = (Counting::default(), Counting::default());
    let subscriber =
        tracing_subscriber::registry().with(below.clone()).with(tracecast::logs::layer()).with(above.clone());
    tracing::subscriber::with_default(subscriber, || {
        each_level();
        let logs = TestLogs::start(Options { filter: "warn", ..Options::default() });
        each_level();
        assert_eq!(messages(&logs), ["error", "warn"]);
        drop(logs);
        each_level();
    });
    assert_eq!((below.0.load(Relaxed), above.0.load(Relaxed)), (15, 15));
}

#[test]
fn the_filter_decides_by_target_and_can_be_changed() {
    let _turn = turn();
    let subscriber = tracing_subscriber::registry().with(tracecast::logs::layer());
    tracing::subscriber::with_default(subscriber, || {
        let events = || {
            info!(target: "hyper::client", "client");
            info!(target: "hyper", "hyper");
            info!(target: "hyperx", "hyperx");
            debug!(target: "store::disk", "disk");
            error!("here");
        };
        let logs =
            TestLogs::start(Options { filter: "info,hyper=off,hyper::client=info,store=debug", ..Options::default() });
        events();
        assert_eq!(messages(&logs), ["client", "hyperx", "disk", "here"]);
        logs.set_filter("off,store=trace");
        events();
        assert_eq!(messages(&logs), ["disk"]);
        logs.set_filter("off");
        events();
        logs.set_filter("trace");
        events();
        assert_eq!(messages(&logs).len(), 5);
        assert_eq!(logs.counts(), [10, 0, 10]);
    });
}

#[test]
fn what_is_behind_the_layer_is_swapped() {
    let _turn = turn();
    let subscriber = tracing_subscriber::registry().with(tracecast::logs::layer());
    tracing::subscriber::with_default(subscriber, || {
        each_level();
        let first = TestLogs::start(Options { filter: "error", ..Options::default() });
        each_level();
        let second = TestLogs::start(Options { filter: "debug", ..Options::default() });
        each_level();
        first.set_filter("trace");
        drop(first);
        each_level();
        assert_eq!(messages(&second), ["error", "warn", "info", "debug", "error", "warn", "info", "debug"]);
        second.stop();
        each_level();
        assert!(second.lines().is_empty());
        assert_eq!(second.records().len(), 8, "what waits can still be taken");
        drop(second);
        each_level();
        let third = TestLogs::start(Options { filter: "info", ..Options::default() });
        each_level();
        assert_eq!(messages(&third), ["error", "warn", "info"]);
    });
}
