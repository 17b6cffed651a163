//! Metrics of the library are counted under the prefix that its manifest sets.

use std::fmt::Debug;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Mutex;

use futures::executor::block_on;
use futures::StreamExt as _;
use tc::testing::capture;
use tc::testing::{MetricsConfig, MetricsGuard, PointValue, Temporality};
use tracecast_edition_2021_test::metrics as user;
use tracecast_edition_2021_test::{Source, Store, StoreError};

#[track_caller]
fn check<R: PartialEq + Debug>(f: impl FnOnce() -> R, value: R, metrics: &str, tree: &str) {
    let captured = capture(f);
    captured.assert_metrics(metrics);
    captured.assert_tree(tree);
    assert_eq!(captured.value, value);
}

#[test]
fn declared() {
    let touch = || {
        user::MOVED.add(7_u64, (Source::Disk,));
        user::TIMES.record(0.5, ());
        user::USED.set(3_u64, (1.cmp(&2),));
        user::ACTIVE.add(-1, ());
    };
    let metrics = "
        acme_active -1
        acme_moved_bytes_total{test.source=disk} 7
        acme_times_seconds count=1
        acme_used_bytes{test.order=less} 3
    ";
    check(touch, (), metrics, "");
}

#[test]
fn renamed_and_reexported() {
    let metrics = "
        acme_renamed_active{test.order=not_less} 0
        acme_renamed_seconds{test.order=not_less} count=1
        acme_renamed_total{test.order=not_less, outcome=ok} 1
    ";
    check(|| user::renamed("ab"), Ok(2), metrics, "");
    let metrics = "
        acme_renamed_active{test.order=less} 0
        acme_renamed_errors_total{test.order=less, outcome=error, error.type=Gone} 1
        acme_renamed_seconds{test.order=less} count=1
        acme_renamed_total{test.order=less, outcome=error, error.type=Gone} 1
    ";
    check(|| user::renamed(""), Err(StoreError::Gone), metrics, "");
    let metrics = "acme_reexported_total{test.order=less, test.source=remote, outcome=ok} 1";
    check(|| block_on(user::reexported(Source::Remote)).is_ok(), true, metrics, "Acme/Reexported");
    let metrics = "acme_reexported_total{test.order=less, outcome=error, error.type=Gone} 1";
    let tree = "Acme/Reexported error error.type=Gone error.message=gone";
    check(|| block_on(user::reexported(Source::Disk)).is_ok(), false, metrics, tree);
}

#[test]
fn as_the_edition_has_it() {
    check(|| user::tail_temporary(&Mutex::new(1)), 1, "acme_tails_total{outcome=ok} 1", "");
    check(|| block_on(user::opaque("ab", &1)).to_string(), "3".to_owned(), "acme_opaques_total{outcome=ok} 1", "");
    // The future does not borrow the second argument, which is gone when it is awaited.
    let future = || {
        let second = Box::new(1);
        let future = user::future("ab", &second);
        drop(second);
        block_on(future)
    };
    check(future, 2, "acme_futures_total{outcome=ok} 1", "");
    let metrics = "acme_items_total 2\nacme_streams_total{outcome=ok} 1";
    check(|| block_on(user::numbers(2).collect::<Vec<_>>()), vec![0, 1], metrics, "");
    let never = || catch_unwind(AssertUnwindSafe(|| block_on(async { user::never().await }))).is_err();
    check(never, true, "acme_nevers_total{outcome=panicked} 1", "");
}

#[test]
fn methods() {
    let store = Store { name: "abc".to_owned() };
    let loads = "acme_store_loads_total{outcome=ok} 1";
    check(|| block_on(store.measured_load("x")), 4, loads, "AcmeStore/MeasuredLoad");
    let boxed = "acme_store_boxed_total{outcome=ok} 1";
    check(|| block_on(store.measured_box()), 3, boxed, "AcmeStore/MeasuredBox test.artifact=abc");
    check(user::private, (), "acme_store_private_total{outcome=ok} 1", "");
}

#[test]
fn the_process_knows_them_by_the_prefix() {
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    user::MOVED.add(5_u64, (Source::Remote,));
    assert_eq!(user::renamed("ab"), Ok(2));
    let snapshot = metering.reader(Temporality::Cumulative).snapshot();
    let moved = snapshot.value("acme_moved_bytes_total", &[("test.source", "remote")]);
    assert_eq!(moved, Some(&PointValue::U64(5)));
    let ending = [("test.order", "not_less"), ("outcome", "ok")];
    assert_eq!(snapshot.value("acme_renamed_total", &ending), Some(&PointValue::U64(1)));
    let catalogue = tc::catalogue();
    let ours = catalogue.metrics.iter().filter(|metric| metric.location.file().contains("edition-2021"));
    let named = ours.clone().filter(|metric| metric.name.starts_with("acme_"));
    assert_eq!((ours.count(), named.count()), (18, 18));
}
