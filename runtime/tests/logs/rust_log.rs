//! `RUST_LOG` selects what `EnvFilter` of tracing-subscriber selects, by level and target.

use tracecast::__logs::{Options, TestLogs, level_of};
use tracecast::config::{Config, Level};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};

use crate::turn::turn;

fn ours(directives: &str, target: &str) -> Level {
    let config = Config::from_variables(|name| (name == "RUST_LOG").then(|| directives.to_owned()));
    assert!(config.problems().is_empty(), "{directives}");
    level_of(&config, target)
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
    let all = [
        "hyper",
        "hyper=debug",
        "hyper=warn,hyper::client",
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

/// The warning about span directives and the book say so.
#[test]
fn an_env_filter_on_our_layer_selects_by_span() {
    let _turn = turn();
    let logs = TestLogs::start(Options::default());
    let layer = tracecast::logs::layer().with_filter(EnvFilter::new("warn,[load{id=1}]=debug"));
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
        tracing::debug!("outside");
        tracing::info_span!("load", id = 2).in_scope(|| tracing::debug!("of 2"));
        tracing::info_span!("load", id = 1).in_scope(|| tracing::debug!("of 1"));
        tracing::warn!("warned");
    });
    let bodies: Vec<_> = logs.records().into_iter().map(|record| record.body).collect();
    assert_eq!(bodies, ["of 1", "warned"]);
}
