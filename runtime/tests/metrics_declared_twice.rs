//! Of a metric that is declared twice with different shapes the first by crate, file and line counts; the other is off and reported
//! once, with both places. Traces and all other metrics go on. `TC_STRICT` makes it an error.
//!
//! Such a declaration is seen by everything in its process, so this is a program of its own.
#![cfg(all(feature = "otlp", not(miri)))]

#[path = "support/child.rs"]
mod child;

use std::time::Duration;

use tracecast::InitError;
use tracecast::config::Config;
use tracecast::keys::{device, tensor::SourceType, tensor::source};
use tracecast::prelude::*;
use tracecast_receiver::Receiver;

use crate::child::Child;

mod elsewhere {
    use super::*;

    tc_metrics! {
        /// Loads, by source. Its line is the first, and so it counts.
        pub(crate) static BY_SOURCE: Counter<(source,)> = "tc_loads_total";
    }
}

tc_metrics! {
    /// Loads, by device.
    static BY_DEVICE: Counter<(device,)> = "tc_loads_total";
    /// Declared again in the same shape: that is the same metric.
    static AGAIN: Counter<(source,)> = "tc_loads_total";
    /// Something else.
    static OTHER: Counter = "tc_others_total";
}

/// Its duration clashes with a counter, and the count of its calls does not.
#[tc_span("Twice/Load")]
#[tc_metric(duration = "tc_twice_seconds", calls = "tc_twice_total")]
fn load() {}

tc_metrics! {
    static CLASH: Histogram<(device,)> = "tc_twice_seconds";
}

fn count() {
    load();
    elsewhere::BY_SOURCE.add(1_u64, (SourceType::Disk,));
    BY_DEVICE.add(1_u64, (0_u32,));
    AGAIN.add(1_u64, (SourceType::Disk,));
    OTHER.add(1_u64, ());
    CLASH.record(1.0, (0_u32,));
}

#[test]
fn program() {
    if child::role().is_none() {
        return;
    }
    match tracecast::try_init() {
        Ok(telemetry) => {
            count();
            // An operator cannot switch the second one on.
            telemetry.set_metric_enabled("tc_loads_total", false).unwrap();
            telemetry.set_metric_enabled("tc_loads_total", true).unwrap();
            count();
            let text = telemetry.render_prometheus();
            println!("{}", text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n"));
            println!("report: {}", telemetry.shutdown(Duration::from_secs(20)));
        }
        Err(error) => println!("error: {error}"),
    }
}

fn conflict() -> String {
    let [first, second] = [elsewhere::BY_SOURCE.declaration(), BY_DEVICE.declaration()].map(|meta| meta.location);
    format!(
        "metric `tc_loads_total` is declared twice with different shapes: \
         Counter of U64 in no unit by [tc.source.type(2)] at {first}, and \
         Counter of U64 in no unit by [tc.device.id(17)] at {second}"
    )
}

#[test]
fn the_first_counts_and_the_rest_goes_on() {
    let receiver = Receiver::start();
    let endpoint = receiver.endpoint::<String>();
    let output =
        Child::new(module_path!(), "program", "on").variables(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)]).run();
    let warnings: Vec<_> = output.said().into_iter().filter(|line| line.starts_with("warning")).collect();
    assert_eq!(warnings.len(), 2, "{}", output.text);
    assert_eq!(warnings[0], format!("warning: {}; the first is used, the second is off", conflict()));
    assert!(warnings[1].starts_with("warning: metric `tc_twice_seconds` is declared twice"), "{}", output.text);
    for line in [
        "tc_loads_total{tc_source_type=\"disk\"} 4",
        "tc_others_total 2",
        "tc_twice_total{outcome=\"ok\"} 2",
        "tc_twice_seconds_count 2",
    ] {
        assert!(output.text.lines().any(|found| found == line), "no {line} in {}", output.text);
    }
    assert!(!output.text.contains("tc_device_id"), "{}", output.text);
    assert!(output.text.contains("report: 2 spans ended = 2 exported"), "{}", output.text);
    assert_eq!(receiver.span_names(), ["Twice/Load", "Twice/Load"]);
    assert!(output.succeeded);
}

#[test]
fn strict_keeps_the_error() {
    let variables = [("OTEL_METRICS_EXPORTER", "console"), ("TC_STRICT", "true")];
    let output = Child::new(module_path!(), "program", "strict").variables(&variables).run();
    assert!(output.text.contains(&format!("error: {}; metric `tc_twice_seconds`", conflict())), "{}", output.text);
    let error = Config::new().with_debug(true).with_strict(true).init().unwrap_err();
    assert!(matches!(error, InitError::Metrics(conflicts) if conflicts.len() == 2));
}

#[test]
fn captures_show_both() {
    let captured = tracecast::testing::capture(|| {
        elsewhere::BY_SOURCE.add(1_u64, (SourceType::Disk,));
        BY_DEVICE.add(1_u64, (0_u32,));
    });
    captured.assert_metrics("tc_loads_total{tc.source.type=disk} 1\ntc_loads_total{tc.device.id=0} 1");
}
