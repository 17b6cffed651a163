//! End to end: a busy thread records 100,000 spans a second, and a receiver on loopback gets them all. Also the
//! opposite: how often an idle pipeline wakes up.

#[cfg(feature = "peers")]
pub mod beside;
#[cfg(feature = "peers")]
pub mod libraries;
pub mod receiver;

pub use receiver::Receiver;

use std::hint::black_box;
use std::time::{Duration, Instant};

use tracecast::config::{Config, Protocol};
use tracecast::prelude::*;

use crate::chart::Chart;
use crate::report::{Report, Section};

const SPANS_A_SECOND: u64 = 100_000;
const UUID: &str = "1b4e28ba-2fa1-11d2-883f-0016d3cca427";

#[inline(never)]
#[tc_span("Bench/Two", attrs(tracecast::keys::tensor::artifact = UUID, tracecast::keys::size_bytes = x))]
pub fn two(x: u64) -> u64 {
    black_box(x)
}

pub fn report(quick: bool, report: &mut Report) -> Vec<Chart> {
    let seconds = if quick { 1 } else { 10 };
    let title =
        format!("The whole way: {SPANS_A_SECOND} spans a second with 2 attributes, on one thread, for {seconds} s");
    let columns = ["over", "ended", "exported", "dropped", "requests", "MiB", "export thread", "receiver"];
    let mut section = Section::new(title, columns);
    for (name, protocol) in [("http/protobuf", Protocol::HttpProtobuf), ("http/json", Protocol::HttpJson)] {
        let (row, dropped, share) = busy(name, protocol, seconds);
        section.row(row);
        if protocol == Protocol::HttpProtobuf {
            report.goal("100,000 spans a second over HTTP", dropped, 0.0, "spans dropped", "");
            report.goal("100,000 spans a second over HTTP", share * 100.0, 10.0, "% of a core", "");
        }
    }
    let seconds = if quick { 2 } else { 10 };
    section.note(idle(Duration::from_secs(seconds)));
    report.add(section);
    #[cfg(not(feature = "peers"))]
    return Vec::new();
    #[cfg(feature = "peers")]
    {
        let (section, chart) = beside::section(quick);
        report.add(section);
        vec![chart]
    }
}

pub fn config(receiver: &Receiver) -> Config {
    Config::new().with_endpoint(receiver.url().parse().expect("an address"))
}

/// Returns the row, the number of dropped spans, and telemetry's share of a core.
fn busy(name: &str, protocol: Protocol, seconds: u64) -> ([String; 8], f64, f64) {
    let receiver = Receiver::start();
    let telemetry = config(&receiver).with_protocol(protocol).init().expect("telemetry starts");
    telemetry.flush(Duration::from_secs(10));
    let (began, cpu, theirs) = (Instant::now(), cpu_of("tracecast"), receiver.serving());
    // In steps of a millisecond, so that the thread keeps this rate instead of one burst.
    let step = SPANS_A_SECOND / 1_000;
    for millisecond in 0..seconds * 1_000 {
        for span in 0..step {
            black_box(two(black_box(span)));
        }
        while began.elapsed() < Duration::from_millis(millisecond + 1) {
            std::hint::spin_loop();
        }
    }
    let took = began.elapsed();
    let share = |now: Option<Duration>, before: Option<Duration>| {
        now.zip(before).map_or(f64::NAN, |(now, before)| (now - before).as_secs_f64() / took.as_secs_f64())
    };
    let (ours, theirs) = (share(cpu_of("tracecast"), cpu), share(Some(receiver.serving()), Some(theirs)));
    let report = telemetry.shutdown(Duration::from_secs(30));
    let percent = |share: f64| format!("{:.1} % of a core", share * 100.0);
    let row = [
        name.to_owned(),
        report.spans_ended.to_string(),
        report.spans_exported.to_string(),
        report.spans_dropped.to_string(),
        receiver.requests().to_string(),
        format!("{:.1}", receiver.bytes() as f64 / f64::from(1 << 20)),
        percent(ours),
        percent(theirs),
    ];
    (row, report.spans_dropped as f64, ours)
}

/// All three signals are on and have receivers, and the program is idle.
fn idle(time: Duration) -> String {
    let receiver = Receiver::start();
    let telemetry = config(&receiver).init().expect("telemetry starts");
    black_box(two(1));
    telemetry.flush(Duration::from_secs(10));
    let before = switches_of_export_thread();
    std::thread::sleep(time);
    let switches = switches_of_export_thread().zip(before).map(|(now, before)| now - before);
    drop(telemetry);
    let Some(switches) = switches else { return "How often an idle pipeline wakes up is not known here.".to_owned() };
    let a_second = switches as f64 / time.as_secs_f64();
    format!("An idle pipeline of all signals woke up {a_second:.1} times a second (target: no more than a few).")
}

/// Returns the processor time of live threads with this name.
pub fn cpu_of(thread: &str) -> Option<Duration> {
    let time = |path: std::path::PathBuf| -> Option<Duration> {
        let stat = std::fs::read_to_string(path.join("schedstat")).ok()?;
        stat.split(' ').next()?.parse().ok().map(Duration::from_nanos)
    };
    Some(threads(thread)?.into_iter().filter_map(time).sum())
}

/// Returns how often the thread went to sleep.
fn switches_of_export_thread() -> Option<u64> {
    // The last one: a thread of an earlier start may still be ending.
    let status = std::fs::read_to_string(threads("tracecast")?.pop()?.join("status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

/// Returns the threads with this name, on Linux.
fn threads(name: &str) -> Option<Vec<std::path::PathBuf>> {
    let threads = std::fs::read_dir("/proc/self/task").ok()?;
    let has_it =
        |path: &std::path::PathBuf| std::fs::read_to_string(path.join("comm")).is_ok_and(|comm| comm.trim() == name);
    let mut threads: Vec<_> = threads.flatten().map(|thread| thread.path()).filter(has_it).collect();
    threads.sort();
    Some(threads)
}
