//! After its first use a metric allocates nothing; unused, it takes less than a kilobyte; used, what the catalogue says.

use tracecast::keys::{
    device,
    tensor::{SourceType, source},
};
use tracecast::prelude::*;
use tracecast::testing::{MetricsConfig, MetricsGuard, RecordingConfig, Temporality};

use crate::counting::{ALLOCATIONS, BYTES};
use crate::turn::{start_recording, turn};

mod keys {
    tracecast::tc_keys! {
        /// A shard.
        pub label shard: Index<999> = "tc.shard";
    }
}

tc_metrics! {
    /// A thousand series.
    static WIDE: Counter<(keys::shard,)> = "tc_wide_total";
    /// A thousand sets.
    static WIDE_TIMES: Histogram<(keys::shard,)> = "tc_wide_seconds" { budget: 16000 };
    /// Counted.
    static COUNTED: Counter<(source, device)> = "tc_counted_total";
    /// Level.
    static LEVEL: UpDownCounter = "tc_level";
    /// Used.
    static USED: Gauge<(device,)> = "tc_used_bytes";
    /// Times.
    static TIMES: Histogram<(source,)> = "tc_times_seconds";
    /// Sizes.
    static SIZES: Histogram<(), u64> = "tc_sizes_bytes" { exponential };
}

#[tc_span("Memory/Work")]
#[tc_metric(calls = "tc_work_total", errors = "tc_work_errors_total", duration = "tc_work_seconds",
            in_flight = "tc_work_active", labels(source = from))]
fn work(from: SourceType) -> Result<(), std::fmt::Error> {
    if from == SourceType::Disk { Ok(()) } else { Err(std::fmt::Error) }
}

#[tc_metric(calls = "tc_async_total", duration = "tc_async_seconds", in_flight = "tc_async_active")]
async fn work_async() {}

fn use_all() {
    for from in [SourceType::Disk, SourceType::Remote] {
        COUNTED.add(1_u64, (from, 3_u32));
        TIMES.record(0.2, (from,));
        let _ = work(from);
    }
    LEVEL.add(-1, ());
    USED.set(5, (1_u32,));
    SIZES.record(500_u64, ());
    // Polled by hand: an executor may allocate.
    let mut future = std::pin::pin!(work_async());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(future.as_mut().poll(&mut context).is_ready());
}

#[test]
fn nothing_is_allocated_after_the_first_use() {
    let _turn = turn();
    let recording = start_recording(RecordingConfig::default());
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let mut reader = metering.reader(Temporality::Cumulative);
    {
        // In a sampled span, so that exemplars are taken too.
        let _scope = tc_scope!("Memory/Scope");
        // Durations fall into one bucket or another, and a bucket's first exemplar takes memory.
        (0..100).for_each(|_| use_all());
        let before = ALLOCATIONS.get();
        (0..100).for_each(|_| use_all());
        assert_eq!(ALLOCATIONS.get() - before, 0);
    }
    reader.snapshot();
    let before = ALLOCATIONS.get();
    (0..100).for_each(|_| use_all());
    assert_eq!(ALLOCATIONS.get() - before, 0, "outside of a span, after a collection");
    drop(recording);
}

#[test]
fn an_unused_metric_of_a_thousand_series_takes_less_than_a_kilobyte() {
    let _turn = turn();
    assert_eq!((WIDE.declaration().series(), WIDE_TIMES.declaration().series()), (1000, 16_000));
    assert!(size_of_val(&WIDE) < 1024 && size_of_val(&WIDE_TIMES) < 1024, "{}", size_of_val(&WIDE));
    let _metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let before = BYTES.get();
    // Refused, so nothing is prepared for it.
    WIDE_TIMES.record(f64::NAN, (0_u32,));
    assert_eq!(BYTES.get() - before, 0);
}

#[test]
fn used_series_take_what_the_catalogue_says() {
    let _turn = turn();
    let _metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let taken = |f: &dyn Fn()| {
        let before = BYTES.get();
        f();
        BYTES.get() - before
    };
    let fixed = taken(&|| LEVEL.add(1, ()));
    let one = taken(&|| WIDE_TIMES.record(0.1, (0_u32,)));
    let all = one + taken(&|| (1..1000_u32).for_each(|shard| WIDE_TIMES.record(0.1, (shard,))));
    let per_thread = WIDE_TIMES.declaration().bytes_per_thread();
    assert!(all <= per_thread + fixed, "{all} of {per_thread}, and {fixed} for any metric");
    assert!(one < all / 10, "{one} of {all}: what is not used takes no memory");
    let counter = taken(&|| WIDE.add(1_u64, (5_u32,)));
    assert!(counter <= WIDE.declaration().bytes_per_thread() + fixed, "{counter}");
    assert!(WIDE.declaration().bytes() >= 63 * WIDE.declaration().bytes_per_thread());
}
