//! Figures become metrics, under names that Prometheus keeps.

use super::*;
use crate::declare::label::Label;
use crate::encode::views::Views;
use crate::meter::exposition::Form;
use crate::meter::snapshot::{PointValue, Snapshot};
use crate::testing::capture;

fn figures() -> Figures {
    let mut figures = Figures { spans_created: 10, spans_open: 3, ..Figures::default() };
    figures.exported = [5, 6, 7];
    figures.unconfirmed = [0, 0, 8];
    figures.dropped[Signal::Traces as usize][Reason::TooManyOpenSpans as usize] = 2;
    figures.dropped[Signal::Logs as usize][Reason::Refused as usize] = 4;
    figures.queue_bytes = [100, 0, 1];
    figures.queue_items = [2, 0, 1];
    figures.queue_capacity_bytes = 1_000;
    figures.queue_capacity_items = [Some(50), None, None];
    (figures.memory_limit_bytes, figures.memory_free_bytes) = (4_000, 1_500);
    (figures.callbacks_late, figures.clock_restarts) = (1, 2);
    figures
}

#[test]
fn figures_become_metrics() {
    let captured = capture(|| SelfMetrics::default().record(figures()));
    captured.assert_metrics(
        "
        tc_callbacks_late_total 1
        tc_clock_restarts_total 2
        tc_export_queue_bytes{signal=traces} 100
        tc_export_queue_bytes{signal=metrics} 0
        tc_export_queue_bytes{signal=logs} 1
        tc_export_queue_capacity_bytes 1000
        tc_export_queue_capacity_items{signal=traces} 50
        tc_export_queue_items{signal=traces} 2
        tc_export_queue_items{signal=metrics} 0
        tc_export_queue_items{signal=logs} 1
        tc_export_stalled_seconds 0
        tc_lines_dropped_total 0
        tc_logs_dropped_total{reason=refused} 4
        tc_logs_exported_total 7
        tc_logs_unconfirmed_total 8
        tc_memory_free_bytes 1500
        tc_memory_limit_bytes 4000
        tc_metric_points_exported_total 6
        tc_spans_created_total 10
        tc_spans_cut_off_total 0
        tc_spans_dropped_total{reason=too_many_open_spans} 2
        tc_spans_exported_total 5
        tc_spans_open 3
        ",
    );
}

#[test]
fn counts_begin_where_metrics_did_and_never_shrink() {
    let mut later = figures();
    later.spans_created = 15;
    later.exported[0] = 1;
    later.spool_bytes = Some(9);
    let captured = capture(|| SelfMetrics { recorded: figures() }.record(later));
    assert_eq!(captured.metric("tc_spans_created_total", &[]), Some(&PointValue::U64(5)));
    assert_eq!(captured.metric("tc_spans_exported_total", &[]), Some(&PointValue::U64(0)));
    assert_eq!(captured.metric("tc_spans_dropped_total", &[("reason", "too_many_open_spans")]), None);
    assert_eq!(captured.metric("tc_spool_bytes", &[]), Some(&PointValue::U64(9)));
}

#[test]
fn growth_is_counted_once() {
    let mut known = 0;
    assert_eq!([5, 2, 5, 6].map(|now| growth(&mut known, now)), [5, 0, 0, 1]);
}

#[test]
fn attempts_are_counted_and_timed() {
    let captured = capture(|| {
        sent(Signal::Logs, Outcome::Retry, Duration::from_millis(20));
        sent(Signal::Logs, Outcome::Ok, Duration::from_millis(30));
    });
    captured.assert_metrics(
        "
        tc_export_duration_seconds{signal=logs} count=2
        tc_export_requests_total{signal=logs, outcome=ok} 1
        tc_export_requests_total{signal=logs, outcome=retry} 1
        ",
    );
}

#[test]
fn all_are_in_the_catalogue_under_the_names_that_prometheus_stores() {
    if !crate::declare::sections::LINKED {
        return;
    }
    let catalogue = crate::catalogue();
    for name in names() {
        let metric = catalogue.metrics.iter().find(|metric| metric.name == name);
        assert_eq!(metric.map(|metric| metric.prometheus_name()).as_deref(), Some(name));
    }
}

/// The names of all metrics that the module declares.
fn names() -> impl Iterator<Item = &'static str> {
    let declared = include_str!("../self_metrics.rs").lines().filter(|line| line.trim_start().starts_with("static "));
    declared.map(|line| line.split('"').nth(1).unwrap())
}

#[test]
fn the_time_of_the_last_success_is_that_of_each_receiver_and_goes_with_it() {
    let [one, other] = ["http://one:4318", "http://other:4318"].map(backend);
    let captured = capture(|| {
        succeeded(Signal::Traces, one);
        succeeded(Signal::Traces, other);
        forget(Signal::Traces, one);
    });
    let time = |backend| captured.metric(LAST_SUCCESS_NAME, &[("signal", "traces"), ("backend", backend)]);
    assert_eq!(time("http://one:4318"), None);
    let Some(PointValue::F64(time)) = time("http://other:4318") else { panic!("{captured:?}") };
    assert!((clock::unix_now() as f64 * 1e-9 - time).abs() < 60.0, "{time}");
}

const LAST_SUCCESS_NAME: &str = "tc_export_last_success_timestamp_seconds";

#[test]
fn the_conventions_have_the_same_figures_under_their_names() {
    let mut now = figures();
    now.dropped[Signal::Traces as usize][Reason::SpanBufferFull as usize] = 3;
    now.dropped[Signal::Traces as usize][Reason::ExportQueueFull as usize] = 4;
    now.dropped[Signal::Metrics as usize][Reason::Rejected as usize] = 9;
    let captured = capture(|| SelfMetrics::default().record(now));
    let (start_unix_nanos, time_unix_nanos) = (1, 2);
    let snapshot = |metrics| Snapshot { start_unix_nanos, time_unix_nanos, metrics };
    let views = Views::new(&[]).0;
    let (mut off, mut on) = (snapshot(captured.metrics.clone()), snapshot(captured.metrics));
    sdk_names::apply(false, &views, &mut off);
    sdk_names::apply(true, &views, &mut on);
    assert_eq!(off.to_string().lines().filter(|line| line.starts_with("otel.")).count(), 0);
    let lines: Vec<_> = on.to_string().lines().filter(|line| line.starts_with("otel.")).map(str::to_owned).collect();
    let expected = "
        otel.sdk.exporter.log.exported 7
        otel.sdk.exporter.log.exported{error.type=refused} 4
        otel.sdk.exporter.log.exported{error.type=unconfirmed} 8
        otel.sdk.exporter.metric_data_point.exported 6
        otel.sdk.exporter.metric_data_point.exported{error.type=rejected} 9
        otel.sdk.exporter.metric_data_point.inflight 0
        otel.sdk.exporter.span.exported 5
        otel.sdk.processor.log.queue.size 1
        otel.sdk.processor.span.processed{error.type=queue_full} 7
        otel.sdk.processor.span.processed{error.type=too_many_open_spans} 2
        otel.sdk.processor.span.queue.capacity 50
        otel.sdk.processor.span.queue.size 2
        otel.sdk.span.live{otel.span.sampling_result=RECORD_AND_SAMPLE} 3
        otel.sdk.span.started{otel.span.sampling_result=RECORD_AND_SAMPLE} 10";
    let (mut lines, expected): (Vec<_>, Vec<_>) = (lines, expected.trim().lines().map(str::trim).collect());
    lines.sort();
    assert_eq!(lines, expected);
    let text = on.to_scraped(Form::Prometheus, &[]);
    for line in ["otel_sdk_exporter_span_exported_total 5", "otel_sdk_processor_span_queue_size 2"] {
        assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
    }
}

#[test]
fn each_reason_of_a_loss_has_an_error_type() {
    for reason in REASONS {
        assert!(sdk_names::error_type(&Reason::value(reason.ordinal())).is_some(), "{reason:?}");
    }
}
