//! The text for those who must be scraped: every kind of metric, as Prometheus reads it.

use tracecast::keys::tensor::{SourceType, source};
use tracecast::prelude::*;
use tracecast::testing::{MetricsConfig, MetricsGuard, Temporality};

use crate::turn::turn;

tc_metrics! {
    /// Bytes moved
    /// between peers.
    static MOVED: Counter<(source,)> = "tc_text_moved_bytes_total";
    /// Loads in progress.
    static ACTIVE: UpDownCounter = "tc_text_load_active";
    /// How full the pool is.
    static POOL: Gauge = "tc_text_pool_used_ratio";
    /// How long.
    static LOAD: Histogram<(source,)> = "tc_text_load_seconds" { buckets: [0.1, 1] };
    /// How large.
    static SIZE: Histogram<(), u64> = "tc_text_tensor_bytes" { exponential };
}

#[test]
fn every_kind_of_metric() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    MOVED.add(5, (SourceType::Disk,));
    ACTIVE.add(-2, ());
    POOL.set(0.25, ());
    for value in [0.05, 0.5, 0.7, 30.0] {
        LOAD.record(value, (SourceType::Remote,));
    }
    SIZE.record(0, ());
    SIZE.record(2, ());
    let text = metering.reader(Temporality::Cumulative).snapshot().to_prometheus();
    let expected = r#"# HELP tc_text_load_active Loads in progress.
# TYPE tc_text_load_active gauge
tc_text_load_active -2
# HELP tc_text_load_seconds How long.
# TYPE tc_text_load_seconds histogram
tc_text_load_seconds_bucket{tc_source_type="remote",le="0.1"} 1
tc_text_load_seconds_bucket{tc_source_type="remote",le="1"} 3
tc_text_load_seconds_bucket{tc_source_type="remote",le="+Inf"} 4
tc_text_load_seconds_sum{tc_source_type="remote"} 31.25
tc_text_load_seconds_count{tc_source_type="remote"} 4
# HELP tc_text_moved_bytes_total Bytes moved\nbetween peers.
# TYPE tc_text_moved_bytes_total counter
tc_text_moved_bytes_total{tc_source_type="disk"} 5
# HELP tc_text_pool_used_ratio How full the pool is.
# TYPE tc_text_pool_used_ratio gauge
tc_text_pool_used_ratio 0.25
# HELP tc_text_tensor_bytes How large.
# TYPE tc_text_tensor_bytes histogram
tc_text_tensor_bytes_bucket{le="0.5"} 1
tc_text_tensor_bytes_bucket{le="2"} 2
tc_text_tensor_bytes_bucket{le="+Inf"} 2
tc_text_tensor_bytes_sum 2
tc_text_tensor_bytes_count 2
"#;
    assert_eq!(text, expected);
    check_with_promtool(&text);
}

/// Where `promtool` is installed it has the last word.
fn check_with_promtool(text: &str) {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let promtool =
        Command::new("promtool").args(["check", "metrics"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut promtool) = promtool else { return };
    promtool.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = promtool.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
