//! Metrics are compiled out.

#![deny(warnings, clippy::all, clippy::pedantic)]
#![forbid(unsafe_code)]

use std::sync::atomic::Ordering::Relaxed;

use futures::StreamExt as _;
use futures::executor::block_on;
use tracecast::keys::tensor::SourceType;
use tracecast::testing::{MetricsConfig, MetricsGuard, Temporality, capture};
use tracecast_off_test::EVALUATED;
use tracecast_off_test::metrics::{self as user, LoadsMeasured as _, Measured, StoreError};

fn run() {
    assert_eq!(user::options("ab", SourceType::Disk), Ok(1));
    assert_eq!(user::options("", SourceType::Disk), Err(StoreError::Gone));
    block_on(user::for_the_label("ab", 1));
    assert_eq!((user::track_caller(), line!()), (line!(), line!()));
    assert_eq!(block_on(user::large([7; 1024])), Ok(7));
    assert_eq!(block_on(user::both([7; 1024])), Ok(7));
    assert_eq!(block_on(user::opaque(1)), 2);
    assert_eq!(block_on(user::boxed(1)), 1);
    assert_eq!(block_on(user::numbers(2).collect::<Vec<_>>()), [0, 1]);
    assert_eq!(block_on(user::boxed_stream(&[1]).collect::<Vec<_>>()), [1]);
    assert_eq!(block_on(async { user::async_stream(2).await.count().await }), 2);
    assert_eq!((Measured.method(), block_on(Measured.load("ab"))), (1, 2));
}

fn touch_all() {
    user::MOVED.add(1_u64, (SourceType::Disk, 1_u32));
    user::BALANCE.add(-0.5, ());
    user::USED.set(1_u64, (1_u32,));
    user::USED.clear((1_u32,));
    user::LOAD.record(0.5, (SourceType::Disk,));
    user::REPLICA.record(1_u64, ());
}

#[test]
fn results_are_the_same_and_nothing_is_evaluated_or_captured() {
    let captured = capture(|| {
        run();
        touch_all();
    });
    captured.assert_metrics("");
    captured.assert_tree("");
    assert!(captured.outside_capture.is_empty());
    assert_eq!(EVALUATED.load(Relaxed), 0);
}

#[test]
fn nothing_is_metered() {
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let _observation = user::FREE.observe((1_u32,), || Some(1.0));
    run();
    touch_all();
    assert_eq!(metering.reader(Temporality::Cumulative).snapshot().to_string(), "");
    let on = [
        user::MOVED.is_on(),
        user::BALANCE.is_on(),
        user::USED.is_on(),
        user::LOAD.is_on(),
        user::REPLICA.is_on(),
        user::FREE.is_on(),
    ];
    assert_eq!(on, [false; 6]);
}

#[test]
fn futures_and_streams_are_no_larger() {
    assert_eq!(size_of_val(&user::large([0; 1024])), size_of_val(&user::plain_large([0; 1024])));
    assert_eq!(size_of_val(&user::both([0; 1024])), size_of_val(&user::plain_large([0; 1024])));
    assert_eq!(size_of_val(&user::opaque(1)), size_of_val(&tracecast_off_test::plain_opaque(1)));
    assert_eq!(size_of_val(&user::numbers(1)), size_of_val(&tracecast_off_test::plain_stream(1)));
}

#[test]
fn no_metric_is_registered() {
    let metrics = tracecast::catalogue().metrics;
    assert!(metrics.is_empty(), "{metrics:?}");
}
