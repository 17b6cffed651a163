tc_metrics! {
    /// Bytes received from peers.
    #[cfg(unix)]
    pub static P2P_BYTES: Counter<(keys::source, keys::device)> = "tc_p2p_bytes_total" { budget: 5000 };
    static LOAD: Histogram<(keys::source,)> = "tc_load_seconds" { unit: "s", buckets: [0.1, 1, 5.5] };
    static SIZE: Histogram<(), u64> = "tc_load_bytes" { exponential };
    static FREE: ObservableGauge = "tc_pool_free" { unit: "{slot}" };
}
