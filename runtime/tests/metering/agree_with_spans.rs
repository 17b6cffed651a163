//! Where a span and a metric say the same thing, they say the same.

use std::panic::catch_unwind;

use futures::{Stream, StreamExt, stream};
use tracecast::Outcome;
use tracecast::prelude::*;
use tracecast::testing::capture;

use crate::turn::turn;

mod keys {
    tracecast::tc_keys! {
        /// A label that has `none` among its values.
        pub label maybe: Option<bool> = "tc.maybe";
    }
}

/// A label that has `none` in the middle of its values.
#[derive(Clone, Copy, TcLabel)]
pub enum Tier {
    /// Much.
    Gold,
    /// Nothing.
    None,
    /// Little.
    Tin,
}

mod tiers {
    tracecast::tc_keys! {
        /// What was paid for.
        pub label tier: super::Tier = "tc.tier";
    }
}

#[tc_metric(calls = "tc_tier_total", labels(tiers::tier = |tier| *tier))]
fn tier(tier: Tier, fails: bool) -> Tier {
    assert!(!fails, "on purpose");
    tier
}

/// Is named like a `Result`, and is none, nor does it take anything.
pub trait Row {}
struct User;
impl Row for User {}
struct QueryResult<T: Row>(T);

#[tc_metric(calls = "tc_query_total")]
fn query() -> QueryResult<User> {
    QueryResult(User)
}

#[test]
fn a_type_that_is_named_like_a_result_is_counted() {
    let _turn = turn();
    capture(|| {
        let QueryResult(_) = query();
    })
    .assert_metrics("tc_query_total{outcome=ok} 1");
}

/// Has types, and no text.
#[derive(Debug, TcError)]
enum Silent {
    Gone,
}

#[tc_span("Agree/Silent")]
#[tc_metric(calls = "tc_silent_total", errors = "tc_silent_errors_total")]
fn silent() -> Result<(), Silent> {
    Err(Silent::Gone)
}

#[test]
fn an_error_without_a_text_has_its_type_on_both() {
    let _turn = turn();
    let captured = capture(silent);
    captured.assert_tree("Agree/Silent error error.type=Gone");
    captured.assert_metrics(
        "
        tc_silent_errors_total{outcome=error, error.type=Gone} 1
        tc_silent_total{outcome=error, error.type=Gone} 1
        ",
    );
}

#[tc_metric(calls = "tc_maybe_total", labels(keys::maybe = |value| *value))]
fn maybe(value: Option<bool>, fails: bool) -> Option<bool> {
    assert!(!fails, "on purpose");
    value
}

#[test]
fn a_label_with_a_none_of_its_own_has_one() {
    let _turn = turn();
    let captured = capture(|| {
        maybe(None, false);
        maybe(Some(true), false);
        let _ = catch_unwind(|| maybe(None, true));
        for of in [Tier::Gold, Tier::None, Tier::Tin] {
            tier(of, false);
        }
        let _ = catch_unwind(|| tier(Tier::Tin, true));
    });
    captured.assert_metrics(
        "
        tc_maybe_total{tc.maybe=true, outcome=ok} 1
        tc_maybe_total{outcome=ok} 1
        tc_maybe_total{outcome=panicked} 1
        tc_tier_total{tc.tier=gold, outcome=ok} 1
        tc_tier_total{outcome=ok} 1
        tc_tier_total{outcome=panicked} 1
        tc_tier_total{tc.tier=tin, outcome=ok} 1
        ",
    );
}

#[tc_span("Agree/Stream", stream)]
#[tc_metric(
    calls = "tc_stream_total",
    errors = "tc_stream_errors_total",
    in_flight = "tc_stream_active",
    items = "tc_stream_items_total"
)]
fn items() -> impl Stream<Item = Result<u8, Silent>> {
    stream::iter([Ok(1), Err(Silent::Gone), Ok(2)])
}

/// Reads until `stop` says so, and drops the rest.
fn read(stop: impl Fn(&Result<u8, Silent>) -> bool) {
    futures::executor::block_on(async {
        let mut items = std::pin::pin!(items());
        while let Some(item) = items.next().await {
            if stop(&item) {
                return;
            }
        }
    });
}

#[test]
fn a_stream_whose_reader_stops_at_an_error_has_failed() {
    let _turn = turn();
    let captured = capture(|| read(Result::is_err));
    assert_eq!(captured.span("Agree/Stream").outcome, Outcome::Error);
    captured.assert_metrics(
        "
        tc_stream_active 0
        tc_stream_errors_total{outcome=error, error.type=Gone} 1
        tc_stream_items_total 2
        tc_stream_total{outcome=error, error.type=Gone} 1
        ",
    );
}

#[test]
fn a_stream_whose_reader_stops_before_is_cancelled() {
    let _turn = turn();
    let captured = capture(|| read(Result::is_ok));
    assert_eq!(captured.span("Agree/Stream").outcome, Outcome::Cancelled);
    captured.assert_metrics(
        "
        tc_stream_active 0
        tc_stream_items_total 1
        tc_stream_total{outcome=cancelled} 1
        ",
    );
}
