//! Runs metrics of every form.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;

use futures::StreamExt as _;
use futures::executor::block_on;
use tracecast::testing::{MetricsConfig, MetricsGuard, PointValue, Temporality, capture};
use tracecast_strict_test::declarations::{Source, StoreError, Tier};
use tracecast_strict_test::metrics::{self as user, LoadsMeasured as _, Store};

#[track_caller]
fn check<R: PartialEq + Debug>(f: impl FnOnce() -> R, value: &R, metrics: &str, outline: &str) {
    let captured = capture(f);
    captured.assert_metrics(metrics);
    captured.assert_outline(outline);
    assert_eq!(captured.value, *value);
}

#[track_caller]
fn check_async<F: Future>(f: impl FnOnce() -> F, value: &F::Output, metrics: &str, outline: &str)
where
    F::Output: PartialEq + Debug,
{
    check(|| block_on(f()), value, metrics, outline);
}

#[test]
fn declared() {
    let captured = capture(|| {
        user::MOVED.add(4096_u64, (Source::Remote, 3_u32));
        user::ENERGY.add(0.5, ());
        user::BALANCE.add(-2, (Tier::Economy,));
        user::USED.set(7_u64, (None::<bool>,));
        user::DEPTH.set(-7, (Ordering::Less,));
        user::TEMPERATURE.set(36.5, ());
        user::LOAD.record(0.25, ("gold",));
        user::SIZE.record(2048_u64, ());
        user::REPLICA.record(4096_u64, ());
        user::private();
    });
    captured.assert_metrics(
        "
        tc_balance{test.tier=eco} -2
        tc_change{test.hit=true} -0.5
        tc_depth{test.order=less} -7
        tc_energy_joules_total 0.5
        tc_load_bytes count=1
        tc_load_seconds{test.tenant=gold} count=1
        tc_moved_bytes_total{test.source=remote, test.device=3} 4096
        tc_private_total 1
        tc_replica_bytes count=1
        tc_temperature_celsius 36.5
        tc_used_bytes 7
        ",
    );
    let Some(PointValue::Histogram(sizes)) = captured.metric("tc_load_bytes", &[]) else { panic!("{captured:?}") };
    assert_eq!((sizes.bounds, sizes.counts.as_slice()), (&[1024.0, 1_048_576.0][..], &[0, 1, 0][..]));
}

#[test]
fn observed() {
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let _observation = user::FREE.observe((3_u32,), || Some(0.5));
    let snapshot = metering.reader(Temporality::Cumulative).snapshot();
    assert_eq!(snapshot.value("tc_free_bytes", &[("test.device", "3")]), Some(&PointValue::F64(0.5)));
}

#[test]
fn of_functions() {
    let everything = |hit, ending, errors| {
        let labels = format!("test.source=local_disk, test.tier=eco{hit}");
        format!(
            "tc_everything_active{{test.source=local_disk, test.tier=eco}} 0\n{}\
             tc_everything_seconds{{{labels}}} count=1\ntc_everything_total{{{labels}, {ending}}} 1",
            if errors { format!("tc_everything_errors_total{{{labels}, {ending}}} 1\n") } else { String::new() }
        )
    };
    let ok = everything(", test.hit=true", "outcome=ok", false);
    check(|| user::everything("abc".to_owned(), Source::LocalDisk), &Ok(b"abc".to_vec()), &ok, "");
    let error = everything("", "outcome=error, error.type=Gone", true);
    check(|| user::everything(String::new(), Source::LocalDisk), &Err(StoreError::Gone), &error, "");
    check(user::unit, &(), "tc_units_seconds count=1\ntc_units_total{outcome=ok} 1", "");
    check(user::no_err, &Err(StoreError::Gone), "tc_no_err_total{outcome=ok} 1", "");
    check(user::no_type, &Err(StoreError::Gone), "tc_no_type_total{outcome=error} 1", "");
    check(|| user::generic((&1, 2_u8), [0; 3]), &(&1, 5), "tc_generics_total{outcome=ok} 1", "");
    check(|| user::opaque(&[1])(&1), &true, "tc_opaques_total{outcome=ok} 1", "");
    let line = line!() + 1;
    check(|| user::track_caller() == line, &true, "tc_callers_total{outcome=ok} 1", "Metric/TrackCaller");
}

#[test]
fn of_futures() {
    let metrics = "
        tc_later_active{test.source=remote} 0
        tc_later_errors_total{test.source=remote, outcome=error, error.type=Gone} 1
        tc_later_seconds{test.source=remote} count=1
        tc_later_total{test.source=remote, outcome=error, error.type=Gone} 1
    ";
    let error = "Metric/Later error";
    check_async(|| user::later(String::new(), Source::Remote, 1), &Err(StoreError::Gone), metrics, error);
    let labelled = "tc_for_labels_total{test.device=2, outcome=ok} 1";
    check_async(|| user::for_the_label(2, "x"), &(), labelled, "");
    let cancelled = || block_on(async { futures::poll!(Box::pin(user::never())).is_pending() });
    check(cancelled, &true, "tc_nevers_active 0\ntc_nevers_total{outcome=cancelled} 1", "");
    let boxed = "tc_boxed_total{test.tenant=gold, outcome=ok} 1";
    check_async(|| user::boxed("gold"), &Ok(4), boxed, "");
    let opaque = "tc_opaque_futures_total{test.hit=true, outcome=ok} 1";
    check_async(|| user::opaque_future(1), &Ok(1), opaque, "");
    check_async(user::rewrapped, &1, "tc_rewrapped_total{outcome=ok} 1", "Metric/Rewrapped");
    check_async(user::construct, &1, "tc_constructs_total{outcome=ok} 1", "");
}

#[test]
fn of_streams() {
    let metrics = "
        tc_numbers_first_seconds{test.device=3} count=1
        tc_numbers_items_total{test.device=3} 3
        tc_numbers_next_seconds{test.device=3} count=2
        tc_numbers_total{test.device=3, outcome=ok} 1
    ";
    check_async(|| user::numbers(3).count(), &3, metrics, "");
    let metrics = "tc_boxed_items_total 2\ntc_boxed_streams_total{outcome=error, error.type=Gone} 1";
    check_async(|| user::boxed_stream(&[1, 0]).count(), &2, metrics, "Metric/BoxedStream error");
    let metrics = "tc_async_items_total 2\ntc_async_streams_total{outcome=ok} 1";
    check_async(|| async { user::async_stream(2).await.count().await }, &2, metrics, "");
}

#[test]
fn of_methods() {
    let name = |store: Store| store.to_string();
    let metrics = "tc_shown_total{outcome=ok} 1\ntc_stores_total{outcome=ok} 1";
    check(|| name(Store::new("gold")), &"gold".to_owned(), metrics, "MetricStore/New");
    let store = Store::new("gold");
    let shares = "tc_shares_total{test.tenant=gold, outcome=ok} 1";
    check_async(|| Arc::new(store.clone()).shared(), &4, shares, "MetricStore/Shared");
    check(|| store.clone().take(), &"gold".to_owned(), "tc_takes_total{outcome=ok} 1", "MetricStore/Take");
    let metrics = "
        tc_measured_loads_active{test.tenant=gold} 0
        tc_measured_loads_total{test.tenant=gold, outcome=ok} 1
    ";
    check_async(|| store.load_measured(1, "gold"), &Ok(1), metrics, "");
    check_async(|| store.default_measured(1), &1, "tc_default_loads_total{outcome=ok} 1", "");
}
