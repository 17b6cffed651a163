//! Log records on their way from an event to a receiver, and metrics for those who are scraped.
#![cfg(feature = "logs")]

use std::time::Duration;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use prost::Message;
use tracecast::prelude::*;
use tracecast::{SpanId, TraceId};
use tracecast_receiver::Receiver;

use crate::child::Child;

#[tc_span("Store/Load")]
fn load() {
    tracing::info!(bytes = 5_u64, "loaded");
    log::warn!("from the log crate");
    tracing::debug!("too much detail");
}

tc_metrics! {
    /// Loads.
    static LOADS: Counter = "tc_loads_total";
}

/// Records that come all at once: twice what is set aside for them.
const BURST: usize = 4_000;

/// What each program does.
#[test]
fn program() {
    let Some(what) = crate::child::role() else { return };
    match what.as_str() {
        "reloads" => return reloads(),
        "stuck" => return stuck(),
        _ => {}
    }
    let telemetry = tracecast::init();
    match what.as_str() {
        "logs" => load(),
        "switches" => {
            load();
            telemetry.set_log_filter("error".parse().unwrap()).unwrap();
            load();
            telemetry.set_log_filter("trace".parse().unwrap()).unwrap();
            load();
        }
        "remote" => {
            let (trace, span) = (0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c, 0xb7ad_6b71_6920_3331);
            tracecast::Context::remote(TraceId(trace), SpanId(span), true).run(|| tracing::info!("from afar"));
        }
        "burst" => {
            let text = "x".repeat(2_000);
            for _ in 0..BURST {
                tracing::info!("{text}");
            }
        }
        "scraped" => {
            LOADS.add(3, ());
            println!("{}", telemetry.render_prometheus());
        }
        other => panic!("no program is called {other}"),
    }
    println!("report: {}", telemetry.shutdown(Duration::from_secs(20)));
}

/// Logs are off at first, and on when the file was read again.
fn reloads() {
    let endpoint = std::env::var("OTEL_EXPORTER_OTLP_ENDPOINT").unwrap();
    let path = std::env::temp_dir().join(format!("tracecast-logs-{}.yaml", std::process::id()));
    std::fs::write(&path, "file_format: '1.0'").unwrap();
    let telemetry = tracecast::config::Config::from_file(&path).unwrap().init().unwrap();
    tracing::info!("before");
    let exporter = format!("{{otlp_http: {{endpoint: '{endpoint}/v1/logs'}}}}");
    let processors = format!("[{{batch: {{exporter: {exporter}}}}}]");
    std::fs::write(&path, format!("{{file_format: '1.0', logger_provider: {{processors: {processors}}}}}")).unwrap();
    assert_eq!(telemetry.reload().unwrap().changed, ["exporters"]);
    tracing::info!("after");
    std::fs::remove_file(&path).unwrap();
    println!("report: {}", telemetry.shutdown(Duration::from_secs(20)));
}

/// The export thread hangs in a redaction hook, for as long as the test wants it to.
fn stuck() {
    let (release, hold) = std::sync::mpsc::channel::<()>();
    let hold = std::sync::Mutex::new(Some(hold));
    let hook = move |_: &str, _: &str| {
        let is_exporting = std::thread::current().name() == Some("tracecast");
        let hold = hold.lock().unwrap().take_if(|_| is_exporting);
        hold.iter().for_each(|hold| hold.recv().unwrap_or_default());
        None
    };
    let telemetry = tracecast::config::Config::from_env().with_redaction(hook).init().unwrap();
    load();
    let until = |what: &str, there: &dyn Fn() -> bool| {
        let began = std::time::Instant::now();
        while !there() {
            assert!(began.elapsed() < Duration::from_secs(30), "never {what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    until("stalled", &|| telemetry.export_stalled() > Duration::from_secs(1));
    let text = telemetry.render_prometheus();
    let stalled = text.lines().find_map(|line| line.strip_prefix("tc_export_stalled_seconds "));
    assert!(stalled.is_some_and(|seconds| seconds.parse::<f64>().unwrap() > 1.0), "{text}");
    drop(release);
    until("working again", &|| telemetry.export_stalled() < Duration::from_millis(100));
    println!("report: {}", telemetry.shutdown(Duration::from_secs(20)));
}

fn records(receiver: &Receiver) -> Vec<LogRecord> {
    let requests = receiver.at("/v1/logs");
    let decoded = requests.iter().map(|request| ExportLogsServiceRequest::decode(&request.body[..]).unwrap());
    let scopes = decoded.flat_map(|request| request.resource_logs).flat_map(|resource| resource.scope_logs);
    scopes.flat_map(|scope| scope.log_records).collect()
}

fn body(record: &LogRecord) -> String {
    match record.body.as_ref().and_then(|body| body.value.clone()) {
        Some(Value::StringValue(text)) => text,
        other => panic!("{other:?}"),
    }
}

fn run(what: &str, variables: &[(&str, &str)]) -> (Receiver, crate::child::Output) {
    let receiver = Receiver::start();
    let endpoint = format!("http://{}", receiver.address);
    let all =
        [variables, &[("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()), ("OTEL_SERVICE_NAME", "store")]].concat();
    let output = Child::new(module_path!(), "program", what).variables(&all).run();
    assert!(output.succeeded, "{}", output.text);
    (receiver, output)
}

fn lines(output: &crate::child::Output) -> Vec<serde_json::Value> {
    let lines = output.text.lines().filter(|line| line.starts_with('{'));
    lines.map(|line| serde_json::from_str(line).unwrap()).filter(|line| !crate::child::is_notice(line)).collect()
}

#[test]
fn events_become_lines_and_records_of_the_span_they_happen_in() {
    let (receiver, output) = run("logs", &[]);
    let records = records(&receiver);
    assert_eq!(records.iter().map(body).collect::<Vec<_>>(), ["loaded", "from the log crate"]);
    let lines = lines(&output);
    assert_eq!(lines.iter().map(|line| &line["message"]).collect::<Vec<_>>(), ["loaded", "from the log crate"]);
    assert_eq!(
        (&lines[0]["service"], &lines[0]["level"], &lines[0]["bytes"]),
        (&"store".into(), &"info".into(), &5.into())
    );
    for (record, line) in records.iter().zip(&lines) {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(hex(&record.trace_id), line["trace_id"].as_str().unwrap());
        assert_eq!(hex(&record.span_id), line["span_id"].as_str().unwrap());
        assert_eq!(line["trace_flags"], "01");
    }
    assert!(output.text.contains("2 log records exported, 0 dropped, 0 pending"), "{}", output.text);
}

#[test]
fn notices_look_like_lines_and_have_a_level() {
    let wrong = [("OTEL_TRACES_SAMPLER_ARG", "1.5"), ("OTEL_TRACES_SAMPLER", "traceidratio")];
    let notices = |output: &crate::child::Output| -> Vec<serde_json::Value> {
        let parsed = output.text.lines().filter_map(|line| serde_json::from_str(line).ok());
        parsed.filter(crate::child::is_notice).collect()
    };
    let (_, output) = run("logs", &wrong);
    let [problem, start] = <[_; 2]>::try_from(notices(&output)).unwrap();
    assert_eq!((&problem["level"], &problem["service"]), (&"warn".into(), &"store".into()));
    assert!(problem["message"].as_str().unwrap().starts_with("OTEL_TRACES_SAMPLER_ARG: `1.5`"), "{problem}");
    assert!(start["level"] == "info" && start["message"].as_str().unwrap().starts_with("traces to "), "{start}");
    assert!(start["timestamp"].is_string() && !output.text.contains("\ntracecast: "), "{}", output.text);

    let (_, output) = run("logs", &[&wrong[..], &[("TC_LOG_FORMAT", "text")]].concat());
    assert!(output.text.contains("Z  WARN tracecast: OTEL_TRACES_SAMPLER_ARG: `1.5`"), "{}", output.text);
    let (_, output) = run("logs", &[&wrong[..], &[("TC_LOG_FORMAT", "none")]].concat());
    assert!(output.text.contains("\ntracecast: warning: OTEL_TRACES_SAMPLER_ARG: `1.5`"), "{}", output.text);
}

#[test]
fn records_that_come_all_at_once_use_the_memory_that_is_free() {
    let (receiver, output) = run("burst", &[("TC_LOG_FORMAT", "none")]);
    let expected = format!("{BURST} log records exported, 0 dropped, 0 pending");
    assert!(output.text.contains(&expected), "{}", output.text);
    assert_eq!(records(&receiver).len(), BURST);
}

#[test]
fn an_unsampled_span_is_named_too() {
    let (receiver, output) = run("logs", &[("OTEL_TRACES_SAMPLER", "always_off")]);
    assert!(receiver.span_names().is_empty());
    let (records, lines) = (records(&receiver), lines(&output));
    assert_eq!((records.len(), lines.len()), (2, 2));
    assert_eq!(lines[0]["trace_flags"], "00");
    assert_eq!(lines[0]["trace_id"].as_str().unwrap().len(), 32);
    assert_eq!(records[0].trace_id.len(), 16);
}

#[test]
fn the_level_follows_the_variables() {
    let (receiver, _) = run("logs", &[("RUST_LOG", "debug"), ("LOG_LEVEL", "warn")]);
    assert_eq!(records(&receiver).len(), 1);
    let (receiver, _) = run("logs", &[("RUST_LOG", "debug")]);
    assert_eq!(records(&receiver).iter().map(body).next_back().unwrap(), "too much detail");
    let (receiver, _) = run("switches", &[]);
    assert_eq!(records(&receiver).len(), 2 + 3);
}

#[test]
fn lines_come_alone_and_records_too() {
    let (receiver, output) = run("logs", &[("TC_LOG_FORMAT", "none")]);
    assert_eq!((records(&receiver).len(), lines(&output).len()), (2, 0));
    let (receiver, output) = run("logs", &[("TC_LOG_FORMAT", "text"), ("OTEL_LOGS_EXPORTER", "none")]);
    assert_eq!((records(&receiver).len(), lines(&output).len()), (0, 0));
    assert!(
        output.text.lines().any(|line| line.contains("INFO") && line.contains("loaded") && line.contains("bytes=5"))
    );
    let output = Child::new(module_path!(), "program", "logs").variables(&[("LOG_LEVEL", "info")]).run();
    assert_eq!(lines(&output).len(), 2, "{}", output.text);
    // The console shows records as lines, also where there are no other lines; as OTLP, if it is told to.
    let console = [("OTEL_LOGS_EXPORTER", "console"), ("TC_LOG_FORMAT", "none")];
    let (receiver, output) = run("logs", &console);
    assert_eq!((records(&receiver).len(), lines(&output).len()), (0, 2), "{}", output.text);
    let (_, output) = run("logs", &[&console[..], &[("TC_CONSOLE_FORMAT", "json")]].concat());
    let shown = lines(&output);
    assert!(!shown.is_empty() && shown.iter().all(|line| line["resourceLogs"].is_array()), "{}", output.text);
    // Nobody asked for lines: whoever has a logger of their own keeps it.
    let output = Child::new(module_path!(), "program", "logs").variables(&[("RUST_LOG", "info")]).run();
    assert_eq!(lines(&output).len(), 0, "{}", output.text);
}

#[test]
fn metrics_can_be_scraped() {
    let (_, output) = run("scraped", &[("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta")]);
    assert!(output.text.lines().any(|line| line == "tc_loads_total 3"), "{}", output.text);
    let about = output.text.lines().find(|line| line.starts_with("target_info{")).unwrap_or_default();
    assert!(about.contains("service_name=\"store\"") && about.ends_with("} 1"), "{}", output.text);
    let waiting = output.text.lines().find(|line| line.starts_with("tc_export_queue_bytes{signal=\"traces\"}"));
    assert_eq!(waiting, Some("tc_export_queue_bytes{signal=\"traces\"} 0"), "no span waits: {}", output.text);
    assert!(
        output.text.lines().any(|line| line.starts_with("# TYPE tc_spans_created_total counter")),
        "{}",
        output.text
    );
}

#[test]
fn an_export_thread_that_is_stuck_is_seen_without_it() {
    let (_, output) = run("stuck", &[("OTEL_LOGS_EXPORTER", "none")]);
    assert!(output.text.contains("1 spans ended = 1 exported"), "{}", output.text);
}

#[test]
fn a_remote_context_is_named_although_nothing_is_traced() {
    let (_, output) = run("remote", &[("OTEL_TRACES_EXPORTER", "none")]);
    let lines = lines(&output);
    assert_eq!(lines[0]["trace_id"], "0af7651916cd43dd8448eb211c80319c", "{}", output.text);
    assert_eq!((&lines[0]["span_id"], &lines[0]["trace_flags"]), (&"b7ad6b7169203331".into(), &"01".into()));
}

#[test]
fn logs_can_be_switched_on_by_a_file_that_is_read_again() {
    let (receiver, output) = run("reloads", &[]);
    assert_eq!(records(&receiver).iter().map(body).collect::<Vec<_>>(), ["after"], "{}", output.text);
}
