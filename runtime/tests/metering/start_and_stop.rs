//! Off, on, off by name, on again; and what is refused.

use tracecast::keys::{
    device,
    tensor::{SourceType, source},
};
use tracecast::prelude::*;
use tracecast::testing::{MetricsConfig, MetricsGuard, PointValue, Temporality};
use tracecast::{Label, MetricsError};

use crate::turn::turn;

mod keys {
    tracecast::tc_keys! {
        /// A label that was written by hand, wrongly.
        pub label wrong: super::Wrong = "tc.wrong";
    }
}

/// Says that it has two values, and gives a third.
#[derive(Clone, Copy)]
pub struct Wrong(usize);

impl Label for Wrong {
    const CARDINALITY: usize = 2;

    fn ordinal(self) -> usize {
        self.0
    }

    fn value(ordinal: usize) -> std::borrow::Cow<'static, str> {
        ordinal.to_string().into()
    }
}

tc_metrics! {
    /// Loads.
    static LOADS: Counter<(source,)> = "tc_start_loads_total";
    /// Energy.
    static ENERGY: Counter<(), f64> = "tc_start_energy_joules_total";
    /// Used.
    static USED: Gauge<(device,), u64> = "tc_start_used_bytes";
    /// Temperature.
    static TEMPERATURE: Gauge = "tc_start_temperature_celsius";
    /// Balance.
    static BALANCE: UpDownCounter<(), f64> = "tc_start_balance";
    /// Sizes.
    static SIZES: Histogram<(), u64> = "tc_start_sizes_bytes" { buckets: [10, 20] };
    /// Times.
    static TIMES: Histogram = "tc_start_times_seconds";
    /// Wrong.
    static WRONG: Counter<(keys::wrong,)> = "tc_start_wrong_total";
}

#[tc_metric(calls = "tc_start_works_total", in_flight = "tc_start_works_active", duration = "tc_start_works_seconds")]
async fn work(wait: bool) {
    if wait {
        std::future::pending::<()>().await;
    }
}

fn touch_all() {
    LOADS.add(1_u64, (SourceType::Disk,));
    USED.set(7_u64, (3_u32,));
    TIMES.record(0.1, ());
}

#[test]
fn nothing_is_recorded_before_and_after() {
    let _turn = turn();
    touch_all();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let mut reader = metering.reader(Temporality::Cumulative);
    assert_eq!(reader.snapshot().to_string(), "");
    touch_all();
    let on = "tc_start_loads_total{tc.source.type=disk} 1\ntc_start_times_seconds count=1\ntc_start_used_bytes{tc.device.id=3} 7\n";
    assert_eq!(reader.snapshot().to_string(), on);
    drop(metering);
    touch_all();
    assert_eq!(reader.snapshot().to_string(), on, "what was recorded can still be read");
    let again = MetricsGuard::start(MetricsConfig::default()).unwrap();
    assert_eq!(reader.snapshot().to_string(), "", "a reader of an earlier time");
    assert_eq!(again.reader(Temporality::Cumulative).snapshot().to_string(), "", "all start from nothing");
    LOADS.add(1_u64, (SourceType::Disk,));
    assert_eq!(
        again.reader(Temporality::Delta).snapshot().to_string(),
        "tc_start_loads_total{tc.source.type=disk} 1\n"
    );
}

#[test]
fn it_is_switched_on_once() {
    let _turn = turn();
    let _metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let error = MetricsGuard::start(MetricsConfig::default()).unwrap_err();
    assert!(matches!(error, MetricsError::AlreadyMetering));
    assert_eq!(error.to_string(), "metrics are already on; drop the first `MetricsGuard` before starting another");
}

#[test]
fn metrics_are_switched_by_name() {
    let _turn = turn();
    let config = MetricsConfig::default().with_off(["tc_start_used_*"]);
    let metering = MetricsGuard::start(config).unwrap();
    let mut reader = metering.reader(Temporality::Cumulative);
    touch_all();
    assert_eq!(
        reader.snapshot().to_string(),
        "tc_start_loads_total{tc.source.type=disk} 1\ntc_start_times_seconds count=1\n"
    );
    metering.set_metric_enabled("tc_start_loads_total", false).unwrap();
    metering.set_metric_enabled("tc_start_used_*", true).unwrap();
    touch_all();
    let text = reader.snapshot().to_string();
    assert_eq!(
        text,
        "tc_start_loads_total{tc.source.type=disk} 1\ntc_start_times_seconds count=2\ntc_start_used_bytes{tc.device.id=3} 7\n"
    );
    let error = metering.set_metric_enabled("tc_start_lods_total", false).unwrap_err();
    let expected =
        "no metric is named `tc_start_lods_total`; use a name from the catalogue, or a prefix followed by `*`";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn one_metric_of_a_function_can_be_off() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let mut reader = metering.reader(Temporality::Cumulative);
    // Where metrics are known only once they are used, they have to be used first.
    futures::executor::block_on(work(false));
    metering.set_metric_enabled("tc_start_works_total", false).unwrap();
    futures::executor::block_on(work(false));
    let text = reader.snapshot().to_string();
    assert_eq!(text, "tc_start_works_active 0\ntc_start_works_seconds count=2\ntc_start_works_total{outcome=ok} 1\n");
    metering.set_metric_enabled("tc_start_works_*", false).unwrap();
    futures::executor::block_on(work(false));
    assert_eq!(reader.snapshot().to_string(), text);
}

#[test]
fn a_call_that_outlives_the_metrics_is_taken_out_of_where_it_was_counted() {
    let _turn = turn();
    let poll = |future: std::pin::Pin<&mut dyn Future<Output = ()>>| {
        assert!(future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_pending());
    };
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let mut first = metering.reader(Temporality::Cumulative);
    let mut old = Box::pin(work(true));
    poll(old.as_mut());
    let mut switched = Box::pin(work(true));
    poll(switched.as_mut());
    assert_eq!(first.snapshot().value("tc_start_works_active", &[]), Some(&PointValue::I64(2)));
    metering.set_metric_enabled("tc_start_works_active", false).unwrap();
    drop(switched);
    assert_eq!(first.snapshot().value("tc_start_works_active", &[]), Some(&PointValue::I64(1)));
    drop(metering);
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let mut new = Box::pin(work(true));
    poll(new.as_mut());
    drop(old);
    let mut second = metering.reader(Temporality::Cumulative);
    assert_eq!(second.snapshot().value("tc_start_works_active", &[]), Some(&PointValue::I64(1)));
    drop(new);
    assert_eq!(second.snapshot().value("tc_start_works_active", &[]), Some(&PointValue::I64(0)));
}

#[test]
fn what_is_no_number_is_refused_and_counted() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let refused =
        |name: &str| metering.reader(Temporality::Cumulative).snapshot().metric(name).map_or(0, |m| m.refused);
    let before = [
        "tc_start_energy_joules_total",
        "tc_start_temperature_celsius",
        "tc_start_times_seconds",
        "tc_start_loads_total",
    ]
    .map(refused);
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
        ENERGY.add(value, ());
        TIMES.record(value, ());
        TEMPERATURE.set(value, ());
    }
    LOADS.add(u64::MAX, (SourceType::Disk,));
    ENERGY.add(-0.0, ());
    ENERGY.add(1.5, ());
    BALANCE.add(f64::NAN, ());
    BALANCE.add(-2.5, ());
    BALANCE.add(1.0, ());
    TIMES.record(0.0, ());
    USED.set(u64::MAX, (0_u32,));
    let after = [
        "tc_start_energy_joules_total",
        "tc_start_temperature_celsius",
        "tc_start_times_seconds",
        "tc_start_loads_total",
    ]
    .map(refused);
    let counted: Vec<_> = before.iter().zip(after).map(|(before, after)| after - before).collect();
    assert_eq!(counted, [4, 3, 4, 1]);
    let text = metering.reader(Temporality::Cumulative).snapshot().to_string();
    let expected = "tc_start_balance -1.5\ntc_start_energy_joules_total 1.5\ntc_start_temperature_celsius -1\ntc_start_times_seconds count=1\n";
    assert_eq!(text, expected);
}

#[test]
fn a_label_out_of_its_range_is_refused() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    for ordinal in [0, 1, 2, usize::MAX] {
        WRONG.add(1_u64, (Wrong(ordinal),));
    }
    let snapshot = metering.reader(Temporality::Cumulative).snapshot();
    assert_eq!(snapshot.to_string(), "tc_start_wrong_total{tc.wrong=0} 1\ntc_start_wrong_total{tc.wrong=1} 1\n");
    assert_eq!(snapshot.metric("tc_start_wrong_total").unwrap().refused, 2);
}

#[test]
fn a_gauge_keeps_its_last_value_until_it_is_cleared() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let mut reader = metering.reader(Temporality::Delta);
    USED.set(5_u64, (0_u32,));
    USED.set(9_u64, (0_u32,));
    USED.set(0_u64, (1_u32,));
    TEMPERATURE.set(0.0, ());
    let text = "tc_start_temperature_celsius 0\ntc_start_used_bytes{tc.device.id=0} 9\ntc_start_used_bytes{tc.device.id=1} 0\n";
    assert_eq!(reader.snapshot().to_string(), text);
    USED.clear((0_u32,));
    TEMPERATURE.clear(());
    assert_eq!(reader.snapshot().to_string(), "tc_start_used_bytes{tc.device.id=1} 0\n");
}

#[test]
fn histograms_have_buckets_sums_and_extremes() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let (mut all, mut delta) = (metering.reader(Temporality::Cumulative), metering.reader(Temporality::Delta));
    let point = |reader: &mut tracecast::testing::Reader| match reader.snapshot().value("tc_start_sizes_bytes", &[]) {
        Some(PointValue::Histogram(point)) => Some(point.clone()),
        None => None,
        other => panic!("{other:?}"),
    };
    for size in [10_u64, 11, 20, 25, 0] {
        SIZES.record(size, ());
    }
    let first = point(&mut all).unwrap();
    assert_eq!((first.bounds, first.counts.as_slice()), (&[10.0, 20.0][..], &[2, 2, 1][..]));
    assert_eq!((first.count, first.sum, first.min, first.max), (5, 66.0, Some(0.0), Some(25.0)));
    assert_eq!(point(&mut delta).unwrap().counts, [2, 2, 1]);
    SIZES.record(15_u64, ());
    let second = point(&mut delta).unwrap();
    assert_eq!((second.count, second.sum, second.min, second.max), (1, 15.0, None, None));
    assert_eq!(point(&mut all).unwrap().counts, [2, 3, 1]);
    assert_eq!(point(&mut delta), None, "nothing came since");
}

#[test]
fn of_several_switches_the_last_one_counts() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    // Where metrics are known only once they are used, they have to be used first.
    LOADS.add(0, (SourceType::Disk,));
    TIMES.record(0.0, ());
    let on = || (LOADS.is_on(), TIMES.is_on());
    metering.set_metric_enabled("tc_start_*", false).unwrap();
    assert_eq!(on(), (false, false));
    metering.set_metric_enabled("tc_start_loads_total", true).unwrap();
    assert_eq!(on(), (true, false));
    metering.set_metric_enabled("tc_start_loads_total", false).unwrap();
    metering.set_metric_enabled("tc_start_*", true).unwrap();
    assert_eq!(on(), (true, true));
}

#[test]
fn literals_are_taken_and_negative_ones_refused() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let refused =
        || metering.reader(Temporality::Cumulative).snapshot().metric("tc_start_loads_total").map_or(0, |m| m.refused);
    LOADS.add(1, (SourceType::Disk,));
    let before = refused();
    LOADS.add(-1, (SourceType::Disk,));
    LOADS.add(-1, (SourceType::Remote,));
    assert_eq!(refused() - before, 2);
    SIZES.record(7, ());
    let text = metering.reader(Temporality::Cumulative).snapshot().to_string();
    assert_eq!(text, "tc_start_loads_total{tc.source.type=disk} 1\ntc_start_sizes_bytes count=1\n");
}

/// Two declarations of one metric, with a label that counts while it is asked for its text.
mod twins {
    use super::*;

    #[derive(Clone, Copy)]
    pub(crate) struct Busy;

    impl Label for Busy {
        const CARDINALITY: usize = 1;

        fn ordinal(self) -> usize {
            0
        }

        fn value(_: usize) -> std::borrow::Cow<'static, str> {
            ASKED.add(1, ());
            "busy".into()
        }
    }

    tracecast::tc_keys! {
        /// A label that does something.
        pub(crate) label busy: Busy = "tc.busy";
    }

    tc_metrics! {
        /// How often it was asked.
        static ASKED: Counter = "tc_start_asked_total";
        /// One.
        pub(crate) static FIRST: Counter<(busy,)> = "tc_start_twins_total";
    }

    pub(crate) mod elsewhere {
        use super::*;

        tracecast::tc_keys! {
            /// The same label, declared again.
            pub(crate) label busy: Busy = "tc.busy";
        }

        tc_metrics! {
            /// The other.
            pub(crate) static SECOND: Counter<(busy,)> = "tc_start_twins_total";
        }
    }
}

#[test]
fn a_label_that_records_while_it_is_compared_hangs_nothing() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    twins::FIRST.add(1, (twins::Busy,));
    twins::elsewhere::SECOND.add(2, (twins::Busy,));
    let snapshot = metering.reader(Temporality::Cumulative).snapshot();
    assert_eq!(snapshot.value("tc_start_twins_total", &[("tc.busy", "busy")]), Some(&PointValue::U64(3)));
    assert!(snapshot.metric("tc_start_asked_total").is_some());
}

#[test]
fn readers_of_an_earlier_run_read_nothing_of_the_next() {
    let _turn = turn();
    let rounds = if cfg!(miri) { 3 } else { 300 };
    let mut reader = MetricsGuard::start(MetricsConfig::default()).unwrap().reader(Temporality::Delta);
    std::thread::scope(|scope| {
        let restarts = scope.spawn(|| {
            for _ in 0..rounds {
                let _metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
                LOADS.add(1_000_000, (SourceType::Disk,));
            }
        });
        while !restarts.is_finished() {
            assert_eq!(reader.snapshot().to_string(), "");
        }
    });
}
