//! Every kind and type of number, with doc comments, other attributes, visibilities and buckets of every form.

#![deny(missing_docs, dead_code, unused_imports)]

/// Metrics of the store.
pub mod metrics {
    use tracecast::keys::{self, device, tensor::source};

    /// Bounds that others may use too.
    pub const BOUNDS: &[f64] = &[0.1, 1.0, 10.0];

    tracecast::tc_metrics! {
        /// Loads.
        pub static LOADS: Counter = "tc_loads_total";
        /// Bytes moved between peers.
        ///
        /// Without those of the protocol.
        pub(crate) static P2P: Counter<(source, device)> = "tc_p2p_bytes_total";
        /// Energy that was used.
        pub static ENERGY: Counter<(), f64> = "tc_energy_joules_total";
        /// Loads in progress.
        pub static ACTIVE: UpDownCounter<(keys::tensor::source,)> = "tc_loads_active";
        /// Work that is left.
        pub static LEFT: UpDownCounter<(), f64> = "tc_work_left_hours";
        /// How much of the cache is in use.
        pub static USED: Gauge<(tracecast::keys::device,)> = "tc_cache_used_ratio";
        /// Free bytes of the pool.
        pub static FREE: Gauge<(device,), u64> = "tc_pool_free_bytes";
        /// How far the clock is off.
        pub static SKEW: Gauge<(), i64> = "tc_clock_skew_nanoseconds";
        /// How long a load takes.
        pub static LATENCY: Histogram<(source,)> = "tc_load_seconds" { buckets: [0.1, 1, 10.0, 1e2] };
        /// How long a fetch takes.
        pub static FETCH: Histogram = "tc_fetch_seconds" { buckets: BOUNDS };
        /// How long a store takes.
        pub static STORE: Histogram = "tc_store_seconds" { buckets: super::metrics::BOUNDS, budget: 6, };
        /// How large replicas are.
        pub static SIZE: Histogram<(), u64> = "tc_replica_bytes" { exponential };
        /// How deep the queue is.
        pub static DEPTH: Histogram<(source, device), u64> = "tc_queue_depth";
        /// How warm the GPU is.
        pub static HEAT: ObservableGauge<(device,)> = "tc_gpu_celsius";
        /// How many pages there are.
        pub static PAGES: ObservableGauge<(), u64> = "tc_pages";
        /// How far it is off.
        pub static OFFSET: ObservableGauge<(), i64> = "tc_offset";
        /// Nobody should use it.
        #[deprecated]
        pub static OLD: Counter = "tc_old_loads_total";
        /// Only where there is a feature for it.
        #[cfg(any())]
        pub static NEVER: Counter<(NoSuchKey,)> = "tc_never_total" { budget: 1 };
        /// Never used.
        #[allow(dead_code, reason = "it proves that the attribute arrives")]
        static UNUSED: Counter = "tc_unused_total";
    }

    tracecast::tc_metrics! {}
}

pub(crate) fn main() {
    use tracecast::keys::tensor::SourceType::{Disk, Remote};

    metrics::LOADS.add(1, ());
    metrics::P2P.add(4096_u64, (Remote, 3_u32));
    metrics::ENERGY.add(0.5, ());
    metrics::ACTIVE.add(-1, (Disk,));
    metrics::LEFT.add(-0.5, ());
    metrics::USED.set(0.5, (3_u8,));
    metrics::FREE.set(1_u64 << 40, (3_u32,));
    metrics::SKEW.set(-5, ());
    metrics::LATENCY.record(0.5, (Disk,));
    metrics::FETCH.record(2, ());
    metrics::STORE.record(2_f32, ());
    metrics::SIZE.record(4096_usize, ());
    metrics::DEPTH.record(3_u8, (Disk, 3_u32));
    drop(metrics::HEAT.observe((3_u32,), || Some(61.5)));
    drop(metrics::PAGES.observe((), || Some(4)));
    drop(metrics::OFFSET.observe((), || None));
    assert_eq!(metrics::P2P.declaration().description, "Bytes moved between peers.\n\nWithout those of the protocol.");
}
