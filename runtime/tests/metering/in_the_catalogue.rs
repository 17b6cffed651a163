//! Every metric is listed with its worst case, and has the name under which Prometheus stores it.

use tracecast::catalogue::{Conflict, MetricKind};
use tracecast::keys::{
    device,
    tensor::{SourceType, source},
};
use tracecast::prelude::*;
use tracecast::testing::{MetricsConfig, MetricsGuard, PointValue, Temporality};

use crate::turn::turn;

tc_metrics! {
    /// Bytes moved between peers.
    pub static P2P_BYTES: Counter<(source, device)> = "tc_p2p_bytes_total" { unit: "By" };
    /// Requests.
    static REQUESTS: Counter = "tc_requests_total" { unit: "{request}" };
    /// How full the pool is.
    static POOL: Gauge<(device,)> = "tc_pool_used_ratio";
    /// Whether the driver is there.
    static AVAILABLE: Gauge = "tc_nvml_available";
    /// How fast.
    static SPEED: Gauge = "tc_p2p_bytes_per_second";
    /// How warm.
    static WARM: ObservableGauge<(device,)> = "tc_gpu_temperature_celsius";
    /// How long.
    static LOAD: Histogram<(source,)> = "tc_load_seconds";
    /// How large.
    static SIZES: Histogram<(), u64> = "tc_tensor_bytes" { exponential };
    /// How many.
    static BATCH: Histogram<(), u64> = "tc_batch_tokens" { unit: "{token}" };
}

/// The same metrics again, as another crate might declare them.
mod elsewhere {
    use tracecast::keys::tensor::source;
    use tracecast::prelude::*;

    tc_metrics! {
        /// Counted here too, with the same shape.
        pub static REQUESTS: Counter = "tc_requests_total" { unit: "{request}" };
        /// Counted by source here.
        pub static LOADS: Counter<(source,)> = "tc_loads_total";
    }
}

#[derive(Debug, TcError)]
enum LoadError {
    Missing,
    Torn,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}

#[tc_span("Store/Fetch")]
#[tc_metric(calls = "tc_fetches_total", errors = "tc_fetch_errors_total", duration = "tc_fetch_seconds",
            in_flight = "tc_fetch_active", labels(source = from))]
fn fetch(from: SourceType) -> Result<(), LoadError> {
    match from {
        SourceType::Disk => Err(LoadError::Torn),
        SourceType::Remote => Err(LoadError::Missing),
    }
}

#[test]
fn every_name_goes_through_prometheus_unchanged() {
    let _turn = turn();
    let _ = fetch(SourceType::Disk);
    let catalogue = tracecast::catalogue();
    for metric in &catalogue.metrics {
        assert_eq!(metric.prometheus_name(), metric.name, "unit `{}`, {:?}", metric.unit, metric.kind);
    }
    if !cfg!(miri) {
        let names: Vec<_> = catalogue.metrics.iter().map(|metric| metric.name).collect();
        for metric in ["tc_p2p_bytes_total", "tc_fetch_seconds", "tc_gpu_temperature_celsius", "tc_batch_tokens"] {
            assert!(names.contains(&metric), "{metric} is not in {names:?}");
        }
    }
}

#[test]
fn units_follow_from_names() {
    let unit = |declaration: &tracecast::catalogue::MetricMeta| declaration.unit;
    assert_eq!(unit(P2P_BYTES.declaration()), "By");
    assert_eq!(unit(POOL.declaration()), "1");
    assert_eq!([unit(AVAILABLE.declaration()), unit(SPEED.declaration())], ["", ""]);
    assert_eq!([unit(WARM.declaration()), unit(LOAD.declaration())], ["Cel", "s"]);
    assert_eq!(unit(BATCH.declaration()), "{token}");
}

#[test]
fn the_worst_case_is_stated() {
    if cfg!(miri) {
        return;
    }
    let catalogue = tracecast::catalogue();
    let find = |name: &str| *catalogue.metrics.iter().find(|metric| metric.name == name).unwrap();
    assert_eq!(find("tc_p2p_bytes_total").series(), 2 * 17);
    assert_eq!(find("tc_load_seconds").series(), 2 * (14 + 2));
    assert_eq!(find("tc_fetches_total").series(), 2 * 4 * 3);
    assert_eq!(find("tc_fetch_errors_total").series(), 2 * 2 * 3);
    assert_eq!((find("tc_fetch_active").series(), find("tc_fetch_active").kind), (2, MetricKind::UpDownCounter));
    let markdown = catalogue.to_markdown();
    let line = markdown.lines().find(|line| line.starts_with("| `tc_p2p_bytes_total`")).unwrap();
    let bytes = (P2P_BYTES.declaration().bytes_per_thread(), P2P_BYTES.declaration().bytes());
    let expected = format!(
        "| `tc_p2p_bytes_total` | Counter of U64 in By by [tc.source.type(2), tc.device.id(17)] | 34 | {} | {} | Bytes moved between peers. | ",
        bytes.0, bytes.1
    );
    assert!(line.starts_with(&expected), "{line}\n{expected}");
    assert!(line.contains("metering/in_the_catalogue.rs:"), "{line}");
    let fetches = markdown.lines().find(|line| line.starts_with("| `tc_fetches_total`")).unwrap();
    assert!(fetches.contains("[tc.source.type(2), outcome(4), error.type(3)] | 24 |"), "{fetches}");
}

#[test]
fn declared_twice_with_the_same_shape_it_is_one_metric() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    REQUESTS.add(1_u64, ());
    elsewhere::REQUESTS.add(2_u64, ());
    elsewhere::LOADS.add(1_u64, (SourceType::Disk,));
    let _ = fetch(SourceType::Disk);
    let snapshot = metering.reader(Temporality::Cumulative).snapshot();
    assert_eq!(snapshot.value("tc_requests_total", &[]), Some(&PointValue::U64(3)));
    let torn = [("tc.source.type", "disk"), ("outcome", "error"), ("error.type", "Torn")];
    assert_eq!(snapshot.value("tc_fetches_total", &torn), Some(&PointValue::U64(1)));
    assert_eq!(snapshot.value("tc_fetch_errors_total", &torn), Some(&PointValue::U64(1)));
    assert!(catalogue_conflicts().is_empty());
}

fn catalogue_conflicts() -> Vec<Conflict> {
    tracecast::catalogue().conflicts()
}
