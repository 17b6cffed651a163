//! `RUST_LOG` selects what `EnvFilter` of tracing-subscriber selects, by level and target.

use tracecast::config::{Config, Level};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;

fn ours(directives: &str, target: &str) -> Level {
    let config = Config::from_variables(|name| (name == "RUST_LOG").then(|| directives.to_owned()));
    assert_eq!(config.problems(), [], "{directives}");
    config.log_filter.level_of(target)
}

/// The least important level of a target that the current subscriber wants.
macro_rules! theirs {
    ($target:literal) => {
        if tracing::enabled!(target: $target, tracing::Level::TRACE) {
            Level::Trace
        } else if tracing::enabled!(target: $target, tracing::Level::DEBUG) {
            Level::Debug
        } else if tracing::enabled!(target: $target, tracing::Level::INFO) {
            Level::Info
        } else if tracing::enabled!(target: $target, tracing::Level::WARN) {
            Level::Warn
        } else if tracing::enabled!(target: $target, tracing::Level::ERROR) {
            Level::Error
        } else {
            Level::Off
        }
    };
}

#[test]
fn levels_and_targets_are_those_of_env_filter() {
    // Each names a level for the rest. Without one EnvFilter has the rest off, and here it stays at `info`.
    let all = [
        "warn",
        "WARN",
        "3",
        "0",
        "info,hyper",
        "off,hyper",
        "warn,hyper=debug",
        "error,hyper=5,hyper::client=off",
        "hyper::client,info",
        "info,hyper_util,hyper=warn",
        "debug,hyper=trace,hyper=error",
        "info,store,hyper=off",
    ];
    for directives in all {
        let subscriber = tracing_subscriber::registry().with(EnvFilter::new(directives));
        let theirs = tracing::subscriber::with_default(subscriber, || {
            [
                ("store", theirs!("store")),
                ("hyper", theirs!("hyper")),
                ("hyper::server", theirs!("hyper::server")),
                ("hyper::client::pool", theirs!("hyper::client::pool")),
            ]
        });
        for (target, expected) in theirs {
            assert_eq!(ours(directives, target), expected, "RUST_LOG={directives} for {target}");
        }
    }
}
