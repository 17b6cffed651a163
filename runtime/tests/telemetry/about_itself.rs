//! The metrics about telemetry itself, as an operator reads them: when a backend last took something, how much may wait, and the names of
//! the conventions.

use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::{Duration, SystemTime};

use tracecast::config::{Config, Spool};
use tracecast::prelude::*;
use tracecast_receiver::{NOBODY, Receiver, wait_until};

use crate::child::is_alone;
use crate::turn::turn;

tc_metrics! {
    /// What waits.
    static WAITING: ObservableGauge<(), u64> = "tc_about_itself_waiting";
}

#[tc_span("Store/Put")]
fn put() {}

const LONG: Duration = Duration::from_secs(20);

fn config(address: impl std::fmt::Display) -> Config {
    Config::new().with_service_name("store").with_endpoint(format!("http://{address}").parse().unwrap())
}

/// The value of a series whose line begins like this.
fn value(text: &str, series: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(series)).map(|value| value.trim().parse().unwrap())
}

#[test]
fn the_last_success_is_that_of_the_backend_and_goes_with_it() {
    let _turn = turn();
    let receiver = Receiver::start();
    let file = std::env::temp_dir().join(format!("tracecast-backends-{}.yaml", std::process::id()));
    let write = |address: &dyn std::fmt::Display| {
        let exporter = |signal| format!("{{exporter: {{otlp_http: {{endpoint: 'http://{address}/v1/{signal}'}}}}}}");
        let (traces, metrics) = (exporter("traces"), exporter("metrics"));
        let text = format!(
            "file_format: '1.0'\ntracer_provider: {{processors: [batch: {traces}]}}\nmeter_provider: {{readers: [periodic: {metrics}]}}"
        );
        std::fs::write(&file, text).unwrap();
    };
    write(&receiver.address);
    let telemetry = Config::from_file(&file).unwrap().init().unwrap();
    let series = |signal: &str, address: &dyn std::fmt::Display| {
        format!(
            "tc_export_last_success_timestamp_seconds{{signal=\"{signal}\",backend=\"http://{address}/v1/{signal}\"}}"
        )
    };
    let traces = series("traces", &receiver.address);
    assert_eq!(value(&telemetry.render_prometheus(), &traces), None, "nothing was sent");
    put();
    assert!(telemetry.flush(LONG).complete);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs_f64();
    let last = value(&telemetry.render_prometheus(), &traces).unwrap();
    assert!((now - 60.0..=now).contains(&last), "{last} is not just before {now}");

    write(&NOBODY);
    telemetry.reload().unwrap();
    wait_until("the old backend to be gone", || value(&telemetry.render_prometheus(), &traces).is_none());
    assert_eq!(value(&telemetry.render_prometheus(), &series("traces", &NOBODY)), None);
    telemetry.shutdown(Duration::ZERO);
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn capacities_stand_beside_what_waits() {
    // The first start in a process decides how much memory there is.
    if !is_alone(module_path!(), "capacities_stand_beside_what_waits") {
        return;
    }
    let directory = std::env::temp_dir().join(format!("tracecast-capacities-{}", std::process::id()));
    let config = config(NOBODY).with_memory_limit(8 << 20).with_spool(Some(Spool::new(&directory)));
    let telemetry = config.with_span_batch(|batch| batch.queue = Some(700)).init().unwrap();
    let text = telemetry.render_prometheus();
    assert_eq!(value(&text, "tc_memory_limit_bytes"), Some(f64::from(8 << 20)));
    assert_eq!(value(&text, "tc_export_queue_capacity_items{signal=\"traces\"}"), Some(700.0));
    assert_eq!(value(&text, "tc_export_queue_capacity_items{signal=\"logs\"}"), None, "only bytes limit them");
    assert_eq!(value(&text, "tc_spool_capacity_bytes"), Some(f64::from(64 << 20)));
    let (free, queue) =
        (value(&text, "tc_memory_free_bytes").unwrap(), value(&text, "tc_export_queue_capacity_bytes").unwrap());
    let limit = f64::from(8 << 20);
    assert!(free > 0.0 && free < limit && queue > limit / 8.0 && queue <= limit / 8.0 * 5.0, "{text}");
    telemetry.shutdown(Duration::ZERO);
    let _ = std::fs::remove_dir_all(directory);
}

#[test]
fn a_callback_that_does_not_return_is_counted_for_as_long_as_it_does_not() {
    let _turn = turn();
    let telemetry = config(NOBODY).init().unwrap();
    let late = || value(&telemetry.render_prometheus(), "tc_callbacks_late_total").unwrap();
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let _observation = WAITING.observe((), move || {
        // An error, as soon as the other side is dropped.
        let _ = released.lock().unwrap().recv();
        Some(3)
    });
    let first = late();
    wait_until("it is missing", || late() > first);
    drop(release);
    wait_until("it returns", || value(&telemetry.render_prometheus(), "tc_about_itself_waiting") == Some(3.0));
    let now = late();
    assert_eq!(late(), now);
    telemetry.shutdown(Duration::ZERO);
}

#[test]
fn the_names_of_the_conventions_come_on_request() {
    let _turn = turn();
    for on in [false, true] {
        let receiver = Receiver::start();
        let telemetry = config(receiver.address).with_sdk_metrics(on).init().unwrap();
        put();
        assert!(telemetry.flush(LONG).complete);
        let text = telemetry.render_prometheus();
        assert_eq!(value(&text, "tc_spans_exported_total"), Some(1.0), "{text}");
        let theirs = value(&text, "otel_sdk_exporter_span_exported_total");
        assert_eq!(theirs, on.then_some(1.0), "{text}");
        telemetry.shutdown(LONG);
        let sent = receiver.at("/v1/metrics").iter().any(|request| {
            let name = b"otel.sdk.exporter.span.exported";
            request.body.windows(name.len()).any(|part| part == name)
        });
        assert_eq!(sent, on);
    }
}
