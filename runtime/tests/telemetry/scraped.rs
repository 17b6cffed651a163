//! Metrics that are scraped and not sent: served on a port, or rendered by the program.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use tracecast::config::{Config, Exporter, Signal};
use tracecast::prelude::*;
use tracecast::{Context, Guard, TraceId};
use tracecast_receiver::{Receiver, free_port, wait_until};

use crate::child::Child;
use crate::turn::turn;

tc_metrics! {
    /// Bytes that
    /// were "moved".
    static MOVED: Counter = "tc_scrape_moved_bytes_total";
    /// How full.
    static FULL: Gauge = "tc_scrape_pool_used_ratio";
    /// What waits.
    static WAITING: ObservableGauge<(), u64> = "tc_scrape_jobs_waiting";
}

#[tc_span("Store/Load")]
#[tc_metric(duration = "tc_scrape_load_seconds")]
fn load() {}

const LONG: Duration = Duration::from_secs(20);
const OPEN_METRICS: &str = "accept: application/openmetrics-text;version=1.0.0;q=0.8,text/plain;q=0.5\r\n";

fn scraped(port: u16) -> Config {
    Config::new()
        .with_service_name("store")
        .with_exporters(Signal::Metrics, vec![Exporter::Prometheus])
        .with_prometheus_address("127.0.0.1", port)
}

fn send(port: u16, request: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(LONG))?;
    stream.write_all(request.as_bytes())?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    Ok(response)
}

/// The head and the body of what is served, as soon as it is.
fn scrape(port: u16, headers: &str) -> (String, String) {
    let request = format!("GET /metrics HTTP/1.1\r\nhost: store\r\n{headers}\r\n");
    let mut response = String::new();
    wait_until("a server", || send(port, &request).map(|found| response = found).is_ok());
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{head}");
    (head.to_owned(), body.to_owned())
}

fn is_closed(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

#[test]
fn a_scraper_gets_the_format_it_prefers() {
    let _turn = turn();
    let (port, receiver) = (free_port(), Receiver::start());
    let telemetry = scraped(port)
        .with_signal_endpoint(Signal::Traces, format!("http://{}/v1/traces", receiver.address).parse().unwrap())
        .init()
        .unwrap();
    assert!(telemetry.is_on(Signal::Metrics));
    MOVED.add(5, ());
    FULL.set(0.25, ());
    load();
    let _observed = WAITING.observe((), || Some(3));

    let (head, text) = scrape(port, "");
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8\r\n"),
        "{head}"
    );
    for expected in [
        "# HELP target_info Target metadata.\n# TYPE target_info gauge\ntarget_info{",
        "service_name=\"store\"",
        "# HELP tc_scrape_moved_bytes_total Bytes that\\nwere \"moved\".\n# TYPE tc_scrape_moved_bytes_total counter\n\
         tc_scrape_moved_bytes_total 5\n",
        "tc_scrape_jobs_waiting 3\n",
        "tc_scrape_load_seconds_count 1\n",
        "tc_spans_created_total 1\n",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("# UNIT") && !text.contains("trace_id"), "{text}");

    load();
    let (head, text) = scrape(port, OPEN_METRICS);
    assert!(head.contains("content-type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"), "{head}");
    for expected in [
        "# HELP target Target metadata.\n# TYPE target info\ntarget_info{",
        "# HELP tc_scrape_moved_bytes Bytes that\\nwere \\\"moved\\\".\n# TYPE tc_scrape_moved_bytes counter\n\
         # UNIT tc_scrape_moved_bytes bytes\ntc_scrape_moved_bytes_total 5\n",
        "# UNIT tc_scrape_pool_used_ratio ratio\ntc_scrape_pool_used_ratio 0.25\n",
        "# UNIT tc_scrape_load_seconds seconds\ntc_scrape_load_seconds_bucket{",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let exemplar = text.lines().find(|line| line.contains(" # {trace_id=\"")).expect(&text);
    let (_, span) = exemplar.split_once("span_id=\"").unwrap();
    assert!(
        exemplar.starts_with("tc_scrape_load_seconds_bucket{le=\"") && span[16..].starts_with("\"} "),
        "{exemplar}"
    );
    assert!(text.ends_with("\n# EOF\n") && !text.contains("# The "), "{text}");

    let report = telemetry.shutdown(LONG);
    assert_eq!((report.spans_exported, report.points_exported, report.complete), (2, 0, true), "{report}");
    assert_eq!(receiver.at("/v1/metrics").len(), 0, "nothing is sent");
    assert!(is_closed(port));
}

#[test]
fn requests_for_something_else_are_refused() {
    let _turn = turn();
    let port = free_port();
    let telemetry = scraped(port).init().unwrap();
    scrape(port, "");
    let status = |request: &str| send(port, request).unwrap().lines().next().unwrap_or_default().to_owned();
    assert_eq!(status("GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 404 Not Found");
    assert_eq!(status("POST /metrics HTTP/1.1\r\ncontent-length: 0\r\n\r\n"), "HTTP/1.1 405 Method Not Allowed");
    assert_eq!(status("\x16\x03\x01 nonsense\r\n\r\n"), "HTTP/1.1 400 Bad Request");
    let head = send(port, "HEAD /metrics HTTP/1.1\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
    drop(telemetry);
}

/// Clients that say nothing, that say too much and that take nothing cost neither spans nor other scrapers.
#[test]
fn hostile_clients_hold_nobody_up() {
    let _turn = turn();
    let (port, receiver) = (free_port(), Receiver::start());
    let telemetry = scraped(port)
        .with_signal_endpoint(Signal::Traces, format!("http://{}/v1/traces", receiver.address).parse().unwrap())
        .init()
        .unwrap();
    scrape(port, "");
    let connect = || TcpStream::connect(("127.0.0.1", port)).unwrap();
    // One that never ends its request, and is cut off long before it has sent all of it.
    let mut endless = connect();
    let piece = format!("x-padding: {}\r\n", "x".repeat(1_000));
    let began = Instant::now();
    endless.write_all(b"GET /metrics HTTP/1.1\r\n").unwrap();
    while endless.write_all(piece.as_bytes()).is_ok() {
        assert!(began.elapsed() < LONG, "it takes everything");
    }
    // As many as fit, which say nothing; those behind them are closed.
    let silent: Vec<TcpStream> = (0..40).map(|_| connect()).collect();
    load();
    let began = Instant::now();
    let report = telemetry.flush(LONG);
    assert_eq!((report.spans_exported, report.complete), (1, true), "{report}");
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert_eq!(silent.iter().filter(|stream| was_closed(stream)).count(), 40 - 16);
    drop(silent);
    let (head, _) = scrape(port, "");
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    assert!(telemetry.shutdown(LONG).complete);
}

fn was_closed(mut stream: &TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let read = stream.read(&mut [0; 1]);
    !read.is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
}

#[test]
fn switching_metrics_off_closes_the_port_until_they_are_on_again() {
    let _turn = turn();
    let port = free_port();
    let telemetry = scraped(port).init().unwrap();
    MOVED.add(7, ());
    let value = |text: &str| {
        text.lines().find_map(|line| line.strip_prefix("tc_scrape_moved_bytes_total ")).unwrap().to_owned()
    };
    assert_eq!(value(&scrape(port, "").1), "7");
    telemetry.set_enabled(Signal::Metrics, false).unwrap();
    wait_until("a closed port", || is_closed(port));
    telemetry.set_enabled(Signal::Metrics, true).unwrap();
    assert_eq!(value(&scrape(port, "").1), "7");
    drop(telemetry);
}

#[test]
fn texts_are_redacted() {
    let _turn = turn();
    let port = free_port();
    let hook = |_: &str, text: &str| (text == "store").then(|| "[removed]".to_owned());
    let telemetry = scraped(port).with_redaction(hook).init().unwrap();
    let (_, text) = scrape(port, "");
    assert!(text.contains("service_name=\"[removed]\""), "{text}");
    assert_eq!(telemetry.render_prometheus().matches("\"store\"").count(), 0);
}

#[tc_span("Store/Measure")]
#[tc_metric(duration = "tc_scrape_measured_seconds")]
fn measured() -> TraceId {
    Context::current().trace_id()
}

/// A server of the program's own answers as the built-in one does, by the `Accept` header.
#[test]
fn a_server_of_ones_own_has_both_formats() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = Config::new()
        .with_service_name("store")
        .with_signal_endpoint(Signal::Traces, format!("http://{}/v1/traces", receiver.address).parse().unwrap())
        .init()
        .unwrap();
    // From here on metrics count.
    telemetry.render_metrics(None);
    let trace = measured();
    let accept = OPEN_METRICS.trim_end().strip_prefix("accept: ").unwrap();
    let (content_type, text) = telemetry.render_metrics(Some(accept));
    assert_eq!(content_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    assert!(text.ends_with("\n# EOF\n"), "{text}");
    let exemplar = text.lines().find(|line| line.contains(&format!(" # {{trace_id=\"{trace}\""))).expect(&text);
    assert!(exemplar.starts_with("tc_scrape_measured_seconds_bucket{le=\""), "{exemplar}");

    for accept in [None, Some("text/plain"), Some("*/*")] {
        let (content_type, text) = telemetry.render_metrics(accept);
        assert_eq!(content_type, "text/plain; version=0.0.4; charset=utf-8", "{accept:?}");
        assert!(text.contains("tc_scrape_measured_seconds_count 1\n") && !text.contains("trace_id"), "{text}");
    }

    let handle = telemetry.handle();
    drop(telemetry);
    let (content_type, text) = handle.render_metrics(Some(accept));
    assert!(content_type.starts_with("text/plain;") && text.starts_with("# "), "{content_type}: {text}");
}

fn rendered(telemetry: &Guard) -> Option<String> {
    let text = telemetry.render_prometheus();
    text.lines().find_map(|line| line.strip_prefix("tc_scrape_moved_bytes_total ")).map(str::to_owned)
}

/// A program with a server of its own needs no exporter.
#[test]
fn metrics_without_an_exporter_are_rendered() {
    let _turn = turn();
    let none = |name: &str| (name == "OTEL_METRICS_EXPORTER").then(|| "none".to_owned());
    let telemetry = Config::from_variables(none).init().unwrap();
    MOVED.add(1, ());
    assert_eq!(rendered(&telemetry), None, "from here on they count");
    MOVED.add(2, ());
    assert_eq!(rendered(&telemetry).as_deref(), Some("2"));
    assert_eq!(telemetry.shutdown(LONG).points_exported, 0);

    let off = Config::new().with_enabled(false).init().unwrap();
    assert_eq!(rendered(&off), None);
    assert!(off.render_prometheus().starts_with("# metrics have no exporter"));
}

/// Another program has the port: one warning names it, and everything else works.
#[test]
fn a_port_in_use_is_one_warning() {
    if crate::child::role().is_some() {
        let telemetry = tracecast::init();
        MOVED.add(3, ());
        assert_eq!(rendered(&telemetry).as_deref(), Some("3"));
        // Until the test has seen the warning.
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
        let report = telemetry.shutdown(LONG);
        assert!(report.complete, "{report}");
        return;
    }
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let variables = [
        ("OTEL_METRICS_EXPORTER", "prometheus"),
        ("OTEL_EXPORTER_PROMETHEUS_HOST", "127.0.0.1"),
        ("OTEL_EXPORTER_PROMETHEUS_PORT", &port),
    ];
    let mut program =
        Child::new(module_path!(), "a_port_in_use_is_one_warning", "served").variables(&variables).spawn();
    program.wait_for("warning: ");
    program.close_input();
    let output = program.end();
    assert!(output.succeeded, "{}", output.text);
    let warning = format!("warning: cannot serve metrics at http://127.0.0.1:{port}/metrics: address in use; ");
    let warnings: Vec<&str> = output.text.lines().filter(|line| line.contains("warning: ")).collect();
    assert!(matches!(warnings[..], [line] if line.contains(&warning)), "{warnings:?}");
    let expected = format!("metrics to scrapers of http://127.0.0.1:{port}/metrics; logs off");
    assert!(output.text.contains(&expected), "{}", output.text);
}

/// The port is served as soon as whoever had it is gone, as when a new version takes over from an old one.
#[test]
fn a_port_that_becomes_free_is_served() {
    let _turn = turn();
    let port = free_port();
    let taken = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let telemetry = scraped(port).init().unwrap();
    MOVED.add(1, ());
    // Whether or not the first attempt came before this, another one follows.
    drop(taken);
    assert!(scrape(port, "").1.contains("tc_scrape_moved_bytes_total 1\n"));
    drop(telemetry);
}
