//! `#[tc_metric]` and `#[tc_span]` on one function: one wrapper for both, and each goes on where the other is off.

use std::fmt;
use std::future::ready;
use std::time::Duration;

use futures::executor::block_on;
use futures::stream::{self, Stream, StreamExt as _};
use tracecast::keys::{
    device, size_bytes,
    tensor::{SourceType, artifact, source},
};
use tracecast::prelude::*;
use tracecast::tc_metric as measured;
use tracecast::testing::{PointValue, capture};
use tracecast::{Context, SpanId, TraceId};

use crate::metered::panics;

#[derive(Debug, PartialEq, TcError)]
enum StoreError {
    Gone,
    Late,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no more")
    }
}

/// Runs `f`, which must return `value` and leave exactly these metrics and spans.
#[track_caller]
fn check<R: PartialEq + fmt::Debug>(f: impl FnOnce() -> R, value: R, metrics: &str, tree: &str) {
    let captured = capture(f);
    captured.assert_metrics(metrics);
    captured.assert_tree(tree);
    assert_eq!(captured.value, value);
}

#[tc_span("Both/Load", kind = client, attrs(artifact = id, source = from), result(size_bytes = |size| *size))]
#[tc_metric(calls = "tc_both_loads_total", duration = "tc_both_load_seconds", labels(source = from, device = |size| *size))]
fn load(id: &str, from: SourceType) -> Result<u32, StoreError> {
    std::thread::sleep(Duration::from_millis(2));
    if id.is_empty() { Err(StoreError::Gone) } else { Ok(id.len() as u32) }
}

#[tc_metric(calls = "tc_both_fetches_total", in_flight = "tc_both_fetches_active", labels(source = from))]
#[tc_span("Both/Fetch", attrs(artifact = &id), share(source = from))]
async fn fetch(id: String, from: SourceType) -> Result<String, StoreError> {
    ready(()).await;
    child();
    if id.is_empty() { Err(StoreError::Late) } else { Ok(id) }
}

#[tc_span("Both/Child")]
fn child() {}

#[test]
fn a_call_is_one_span_with_all_that_is_on_it() {
    let labels = "tc.source.type=disk, tc.device.id=2";
    let metrics = format!("tc_both_load_seconds{{{labels}}} count=1\ntc_both_loads_total{{{labels}, outcome=ok}} 1");
    let tree = "Both/Load [client] tc.artifact.id=ab tc.source.type=disk tc.size.bytes=2";
    check(|| load("ab", SourceType::Disk), Ok(2), &metrics, tree);
    let labels = "tc.source.type=disk";
    let ending = "outcome=error, error.type=Gone";
    let metrics = format!("tc_both_load_seconds{{{labels}}} count=1\ntc_both_loads_total{{{labels}, {ending}}} 1");
    let tree =
        r#"Both/Load [client] error tc.artifact.id="" tc.source.type=disk error.type=Gone error.message="no more""#;
    check(|| load("", SourceType::Disk), Err(StoreError::Gone), &metrics, tree);
}

#[test]
fn a_future_is_one_span_with_all_that_is_on_it() {
    let metrics = |ending| {
        let labels = "tc.source.type=remote";
        format!("tc_both_fetches_active{{{labels}}} 0\ntc_both_fetches_total{{{labels}, outcome={ending}}} 1")
    };
    let tree = "
        Both/Fetch tc.artifact.id=ab tc.source.type=remote
          Both/Child tc.source.type=remote
    ";
    let value = Ok("ab".to_owned());
    check(|| block_on(fetch("ab".into(), SourceType::Remote)), value, &metrics("ok"), tree);
    let captured = capture(|| block_on(fetch(String::new(), SourceType::Remote)));
    captured.assert_metrics(&metrics("error, error.type=Late"));
    captured.assert_outline("Both/Fetch error\n  Both/Child");
}

#[test]
fn both_read_the_clock_once() {
    let captured = capture(|| load("ab", SourceType::Disk));
    let labels = [("tc.source.type", "disk"), ("tc.device.id", "2")];
    let Some(PointValue::Histogram(time)) = captured.metric("tc_both_load_seconds", &labels) else {
        panic!("{captured:?}")
    };
    let span = captured.span("Both/Load").duration.as_secs_f64();
    assert!(time.sum >= 0.002 && (time.sum - span).abs() < 2e-6, "{} and {span}", time.sum);
}

#[test]
fn a_stream_says_the_same_in_both() {
    #[tc_span("Both/Stream", attrs(size_bytes = items.len()))]
    #[tc_metric(stream, calls = "tc_both_streams_total", items = "tc_both_stream_items_total")]
    fn items(items: Vec<Result<u8, StoreError>>) -> impl Stream<Item = Result<u8, StoreError>> {
        stream::iter(items)
    }

    let failing = || vec![Ok(1), Err(StoreError::Gone), Ok(2)];
    let metrics = "tc_both_stream_items_total 3\ntc_both_streams_total{outcome=error, error.type=Gone} 1";
    let tree = r#"Both/Stream error tc.size.bytes=3 error.type=Gone error.message="no more""#;
    check(|| block_on(items(failing()).count()), 3, metrics, tree);
    let metrics = "tc_both_stream_items_total 1\ntc_both_streams_total{outcome=cancelled} 1";
    check(|| block_on(items(failing()).take(1).count()), 1, metrics, "Both/Stream cancelled tc.size.bytes=3");
}

#[test]
fn options_of_spans_do_not_reach_metrics() {
    #[tc_span("Both/NeedsParent", needs_parent)]
    #[tc_metric(calls = "tc_both_orphans_total")]
    fn orphan() {}

    #[tc_metric(calls = "tc_both_adopted_total", labels(device = number))]
    #[tc_span("Both/Adopted", parent = Context::remote(TraceId(7), SpanId(9), true), links(Context::current()))]
    async fn adopted(number: u32) {}

    #[tc_span(db(system = "sqlite", collection = table, operation = "select"))]
    #[tc_metric(calls = "tc_both_selects_total")]
    fn select(table: &str) {}

    #[tc_span("Both/NoErr")]
    #[tc_metric(calls = "tc_both_unreported_total", no_err)]
    fn unreported() -> Result<u8, StoreError> {
        Err(StoreError::Gone)
    }

    check(orphan, (), "tc_both_orphans_total{outcome=ok} 1", "");
    let captured = capture(|| block_on(adopted(3)));
    captured.assert_metrics("tc_both_adopted_total{tc.device.id=3, outcome=ok} 1");
    assert_eq!(captured.outside_capture.iter().filter(|name| name.starts_with("tc_both_adopted")).count(), 0);
    let tree = "t.select [client] db.system.name=sqlite db.collection.name=t db.operation.name=select";
    check(|| select("t"), (), "tc_both_selects_total{outcome=ok} 1", tree);
    check(unreported, Err(StoreError::Gone), "tc_both_unreported_total{outcome=ok} 1", "Both/NoErr");
}

#[test]
fn attributes_by_other_paths_and_names() {
    #[::tracecast::tc_metric(calls = "tc_both_absolute_total")]
    #[::tracecast::tc_span("Both/Absolute")]
    fn absolute() {}

    #[tracecast::tc_span("Both/Qualified", crate = ::tracecast)]
    #[inline]
    #[tracecast::tc_metric(calls = "tc_both_qualified_total", crate = ::tracecast)]
    async fn qualified() {}

    #[measured(calls = "tc_both_renamed_total", in_flight = "tc_both_renamed_active")]
    fn renamed() -> Result<u8, StoreError> {
        Ok(1)
    }

    #[measured(calls = "tc_both_renamed_later_total")]
    async fn renamed_later() {
        panic!("on purpose")
    }

    #[cfg_attr(all(), tc_span("Both/CfgAttr"), tc_metric(calls = "tc_both_cfg_attr_total"))]
    fn conditional() {}

    check(absolute, (), "tc_both_absolute_total{outcome=ok} 1", "Both/Absolute");
    check(|| block_on(qualified()), (), "tc_both_qualified_total{outcome=ok} 1", "Both/Qualified");
    check(renamed, Ok(1), "tc_both_renamed_active 0\ntc_both_renamed_total{outcome=ok} 1", "");
    check(|| panics(|| block_on(renamed_later())), true, "tc_both_renamed_later_total{outcome=panicked} 1", "");
    check(conditional, (), "tc_both_cfg_attr_total{outcome=ok} 1", "Both/CfgAttr");
}

#[tokio::test]
#[tc_metric(calls = "tc_both_below_tokio_total")]
#[tc_span("Both/BelowTokio")]
async fn below_tokio_test() {
    tokio::task::yield_now().await;
}

#[tc_metric(calls = "tc_both_above_tokio_total")]
#[tokio::test]
async fn above_tokio_test() -> Result<(), StoreError> {
    tokio::task::yield_now().await;
    Ok(())
}

#[test]
fn tests_of_tokio() {
    check(below_tokio_test, (), "tc_both_below_tokio_total{outcome=ok} 1", "Both/BelowTokio");
    check(above_tokio_test, Ok(()), "tc_both_above_tokio_total{outcome=ok} 1", "");
}
