//! One limit covers everything that waits: with receivers that are down, and far more spans and log records than it has room
//! for, the memory of the process stays within it, and every span is accounted for.
#![cfg(all(target_os = "linux", feature = "logs"))]

use std::net::TcpListener;
use std::time::{Duration, Instant};

use tracecast::Report;
use tracecast::config::{Config, LogFormat};
use tracecast::prelude::*;

use crate::child::is_alone;

/// Bytes of memory that this process has touched. What is reserved for spans and was never used does not count.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

tracecast::tc_keys! {
    /// Something long.
    pub id payload: str = "tc.test.payload";
}

#[tc_span("Store/Load", attrs(payload = text))]
fn load(text: &str) {
    tracing::info!(text, "loaded");
}

const LIMIT: usize = 16 << 20;
/// The collector's thread, its runtime and connections, a request that is being made, buffers of the test itself.
const SLACK: usize = 4 << 20;

/// The sum of a gauge over its labels, in the text format of Prometheus.
fn gauge(text: &str, name: &str) -> f64 {
    let lines = text.lines().filter(|line| line.starts_with(&format!("{name}{{")));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}

#[test]
fn all_buffers_stay_within_the_limit_while_nobody_takes_anything() {
    // It looks at the memory of its whole process.
    if !is_alone(module_path!(), "all_buffers_stay_within_the_limit_while_nobody_takes_anything") {
        return;
    }
    // It takes connections and never says a word.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let before = resident();
    let config = Config::new().with_endpoint(endpoint).with_memory_limit(LIMIT).with_log_format(LogFormat::None);
    let telemetry = config.init().unwrap();
    let text = "x".repeat(1000);
    let (mut made, mut most_waiting, mut full, mut peak) = (0_usize, 0.0_f64, false, 0);
    let began = Instant::now();
    // Several times as much as there is room for, and for long enough that the collector moves it on to the last buffer.
    while made < 4 * LIMIT || !full {
        for _ in 0..200 {
            load(&text);
        }
        made += 200 * 2 * text.len();
        let waiting = gauge(&telemetry.render_prometheus(), "tc_export_queue_bytes");
        most_waiting = most_waiting.max(waiting);
        peak = peak.max(resident() - before);
        full = most_waiting > (LIMIT / 8) as f64;
        assert!(began.elapsed() < Duration::from_secs(60), "{made} bytes made, {most_waiting} waiting");
    }
    assert!(peak <= LIMIT + SLACK, "{peak} bytes for a limit of {LIMIT}");
    // All but what is reserved for requests that wait; those that are being made, one of spans and one of records, come to it.
    let making = 2 * 512 * (text.len() + 500);
    assert!(most_waiting <= (LIMIT / 8 * 5 + making) as f64, "{most_waiting} bytes of requests");
    let report: Report = telemetry.shutdown(Duration::from_millis(200));
    assert_eq!(report.spans_ended, report.spans_dropped + report.spans_pending, "{report}");
    assert!(report.spans_dropped > 0 && report.spans_pending > 0 && report.spans_exported == 0, "{report}");
    assert!(report.logs_dropped > 0, "{report}");
    println!("peak {peak}, waiting {most_waiting}, {report}");
}
