//! Telemetry is compiled out.

#![deny(warnings, clippy::all, clippy::pedantic)]
#![forbid(unsafe_code)]

use std::sync::atomic::Ordering::Relaxed;

use futures::StreamExt as _;
use futures::executor::block_on;
use tracecast::testing::capture;
use tracecast_off_test::{self as user, EVALUATED, Loads as _, Store};

#[test]
fn results_are_the_same_and_nothing_is_evaluated_or_captured() {
    let captured = capture(|| {
        assert_eq!(user::options("ab"), Ok(2));
        assert_eq!(user::options(""), Err("empty".to_owned()));
        block_on(user::for_the_attribute("ab"));
        user::database("t");
        assert_eq!(block_on(user::large([7; 1024])), Ok(7));
        assert_eq!(block_on(user::opaque(1)), 2);
        assert_eq!(block_on(user::boxed(1)), 1);
        assert_eq!(block_on(user::numbers(2).collect::<Vec<_>>()), [0, 1]);
        assert_eq!(user::scope(1), 1);
        assert_eq!((Store.method(), Store::constant()), (1, 2));
        assert_eq!(block_on(Store.load("ab")), 2);
    });
    captured.assert_tree("");
    assert!(captured.outside_capture.is_empty());
    assert_eq!(EVALUATED.load(Relaxed), 0);
}

#[test]
fn futures_and_streams_are_no_larger() {
    assert_eq!(size_of_val(&user::large([0; 1024])), size_of_val(&user::plain_large([0; 1024])));
    assert_eq!(size_of_val(&user::opaque(1)), size_of_val(&user::plain_opaque(1)));
    assert_eq!(size_of_val(&user::numbers(1)), size_of_val(&user::plain_stream(1)));
}

#[test]
fn no_callsite_is_registered() {
    let catalogue = tracecast::catalogue().to_markdown();
    assert!(!catalogue.contains("Off/"), "{catalogue}");
}
