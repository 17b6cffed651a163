//! The test kit: metric points of one test alone, printed and compared; measurements without a context are outside the capture.

use std::thread;

use tracecast::Context;
use tracecast::keys::{
    device,
    tensor::{SourceType, source},
};
use tracecast::prelude::*;
use tracecast::testing::{MetricsConfig, MetricsGuard, PointValue, Temporality, capture, capture_async};

use crate::turn::turn;

tc_metrics! {
    /// Loads.
    static LOADS: Counter<(source,)> = "tc_kit_loads_total";
    /// Used.
    static USED: Gauge<(device,), u64> = "tc_kit_used_bytes";
    /// Balance.
    static BALANCE: UpDownCounter<(), f64> = "tc_kit_balance";
    /// Sizes.
    static SIZES: Histogram<(), u64> = "tc_kit_sizes_bytes" { buckets: [10] };
}

#[tc_metric(calls = "tc_kit_works_total", in_flight = "tc_kit_works_active", labels(source = from))]
async fn work(from: SourceType) {
    LOADS.add(2_u64, (from,));
    tokio::task::yield_now().await;
}

#[test]
fn points_are_printed_and_compared() {
    let _turn = turn();
    let captured = capture(|| {
        LOADS.add(1_u64, (SourceType::Disk,));
        LOADS.add(4_u64, (SourceType::Disk,));
        LOADS.add(0_u64, (SourceType::Remote,));
        USED.set(7_u64, (0_u32,));
        USED.set(8_u64, (0_u32,));
        USED.set(8_u64, (1_u32,));
        USED.clear((1_u32,));
        BALANCE.add(0.5, ());
        BALANCE.add(-2.0, ());
        BALANCE.add(f64::NAN, ());
        SIZES.record(4_u64, ());
        SIZES.record(40_u64, ());
    });
    captured.assert_metrics(
        "
        tc_kit_balance -1.5
        tc_kit_loads_total{tc.source.type=remote} 0
        tc_kit_loads_total{tc.source.type=disk} 5
        tc_kit_sizes_bytes count=2
        tc_kit_used_bytes{tc.device.id=0} 8
        ",
    );
    assert_eq!(captured.metric("tc_kit_loads_total", &[("tc.source.type", "disk")]), Some(&PointValue::U64(5)));
    assert_eq!(captured.metric("tc_kit_used_bytes", &[("tc.device.id", "1")]), None);
    let Some(PointValue::Histogram(sizes)) = captured.metric("tc_kit_sizes_bytes", &[]) else { panic!("{captured:?}") };
    assert_eq!((sizes.counts.as_slice(), sizes.sum, sizes.max), (&[1, 1][..], 44.0, Some(40.0)));
}

#[tokio::test]
async fn tests_that_run_at_the_same_time_do_not_see_each_other() {
    let (one, two) = tokio::join!(
        capture_async(|| work(SourceType::Disk)),
        capture_async(|| async {
            work(SourceType::Remote).await;
            work(SourceType::Remote).await;
        }),
    );
    one.assert_metrics(
        "
        tc_kit_loads_total{tc.source.type=disk} 2
        tc_kit_works_active{tc.source.type=disk} 0
        tc_kit_works_total{tc.source.type=disk, outcome=ok} 1
        ",
    );
    two.assert_metrics(
        "
        tc_kit_loads_total{tc.source.type=remote} 4
        tc_kit_works_active{tc.source.type=remote} 0
        tc_kit_works_total{tc.source.type=remote, outcome=ok} 2
        ",
    );
}

#[test]
fn work_without_a_context_is_outside_the_capture() {
    let _turn = turn();
    let captured = capture(|| {
        let context = Context::current();
        thread::spawn(move || context.run(|| LOADS.add(1_u64, (SourceType::Disk,)))).join().unwrap();
        thread::spawn(|| SIZES.record(1_u64, ())).join().unwrap();
    });
    captured.assert_metrics("tc_kit_loads_total{tc.source.type=disk} 1");
    assert!(captured.outside_capture.contains(&"tc_kit_sizes_bytes"), "{:?}", captured.outside_capture);
}

#[test]
fn a_capture_beside_real_metering_keeps_them_apart() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let captured = capture(|| {
        LOADS.add(1_u64, (SourceType::Disk,));
        // In no context: it is the process's.
        thread::spawn(|| LOADS.add(5_u64, (SourceType::Remote,))).join().unwrap();
    });
    captured.assert_metrics("tc_kit_loads_total{tc.source.type=disk} 1");
    let snapshot = metering.reader(Temporality::Cumulative).snapshot();
    let remote = snapshot.value("tc_kit_loads_total", &[("tc.source.type", "remote")]);
    assert_eq!(remote, Some(&PointValue::U64(5)));
    assert_eq!(snapshot.value("tc_kit_loads_total", &[("tc.source.type", "disk")]), None);
}
