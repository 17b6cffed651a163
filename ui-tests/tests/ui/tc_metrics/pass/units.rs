//! Units that follow from the name, written beside it or not, and annotations of what is counted.

use tracecast::tc_metrics;

tc_metrics! {
    static REQUESTS: Counter = "tc_requests_total" { unit: "{request}" };
    static DEPTH: Gauge = "tc_queue_depth" { unit: "{request}", };
    static BYTES: Counter = "tc_p2p_bytes_total" { unit: "By" };
    static LATENCY: Histogram = "tc_load_seconds";
    static HITS: ObservableGauge = "tc_cache_hit_ratio";
    static SPREAD: Histogram = "tc_cache_hit_ratio_spread";
    static RATE: Gauge = "tc_p2p_bytes_per_second";
    static LOADS: UpDownCounter = "tc_loads_active" { unit: "" };
}

pub(crate) fn main() {
    assert_eq!(REQUESTS.declaration().unit, "{request}");
    assert_eq!(DEPTH.declaration().unit, "{request}");
    assert_eq!(BYTES.declaration().unit, "By");
    assert_eq!(LATENCY.declaration().unit, "s");
    assert_eq!(HITS.declaration().unit, "1");
    let others = [SPREAD.declaration(), RATE.declaration(), LOADS.declaration()];
    assert_eq!(others.map(|metric| metric.unit), ["", "", ""]);
}
