//! A soak test: one thread records 20,000 spans a second, some metrics and log records, for a given time, against a
//! backend that is up for five seconds and down for five. At the end three counts have to agree exactly: the thread's,
//! the library's report, and the backend's.

mod account;
mod flapping;

use std::hint::black_box;
use std::time::{Duration, Instant};

use tracecast::config::{Config, LogFormat};
use tracecast::prelude::*;

use self::account::Account;
use self::flapping::{Flapping, PHASE};

/// Spans of a burst, one burst per millisecond: a root, and the rest below it.
const SPANS_A_BURST: u64 = 20;
/// One log record per this number of bursts.
const BURSTS_A_RECORD: u64 = 10;
/// Memory above the limit: connections, the requests that the backend reads, and the allocator's reserve.
const MARGIN: u64 = 32 << 20;
/// A longer burst was blocked. A busy machine suspends a thread for milliseconds, not for this long.
const BLOCKED: Duration = Duration::from_secs(1);
/// The time limit of the shutdown.
const PATIENCE: Duration = Duration::from_secs(60);

tc_metrics! {
    /// Bursts.
    static BURSTS: Counter = "tc_soak_bursts_total";
    /// Spans in the last burst.
    static IN_BURST: Gauge = "tc_soak_burst_spans";
    /// Sizes.
    static SIZES: Histogram = "tc_soak_size_bytes";
}

/// Runs for this number of seconds, and exits with 1 if a guarantee was broken.
pub fn run(seconds: u64) {
    let backend = Flapping::start();
    let config = Config::new()
        .with_endpoint(backend.url().parse().expect("an address"))
        .with_metric_interval(Duration::from_secs(5))
        .with_log_format(LogFormat::None);
    let limit: u64 = config.get("memory_limit").and_then(|limit| limit.parse().ok()).expect("a memory limit");
    println!(
        "{} spans a second for {seconds} s, memory limit {} MiB; the backend is up {PHASE:?}, then down {PHASE:?}",
        SPANS_A_BURST * 1_000,
        mebibytes(limit),
    );
    // All its pages are touched before the first reading of memory.
    let mut times = vec![u32::MAX; seconds as usize * 1_000];
    let (base, telemetry) = (resident(), config.init().expect("telemetry starts"));
    let (made, most) = bursts(&backend, &mut times);
    backend.stay_up();
    let report = telemetry.shutdown(PATIENCE);
    println!("{report}");
    let mut failures = Account::of(&report.to_string()).failures(made.spans, backend.spans());
    check(&mut failures, report.logs_exported == backend.logs(), || {
        format!("{} log records exported, {} received", report.logs_exported, backend.logs())
    });
    failures.extend(check_memory(base, most, limit));
    failures.extend(check_times(&mut times[..made.bursts as usize]));
    println!("made {} spans, {} log records in {} bursts", made.spans, made.records, made.bursts);
    println!("received {} spans, {} log records", backend.spans(), backend.logs());
    for failure in &failures {
        println!("FAILED: {failure}");
    }
    println!("{}", if failures.is_empty() { "the account is exact" } else { "the soak failed" });
    if !failures.is_empty() {
        std::process::exit(1);
    }
}

fn check(failures: &mut Vec<String>, holds: bool, failure: impl FnOnce() -> String) {
    if !holds {
        failures.push(failure());
    }
}

/// The counts of the recording thread.
#[derive(Default)]
struct Made {
    bursts: u64,
    spans: u64,
    records: u64,
}

/// Records a burst every millisecond, late ones at once. Returns the counts, and the peak memory of all seconds.
fn bursts(backend: &Flapping, times: &mut [u32]) -> (Made, u64) {
    let (began, mut made, mut most) = (Instant::now(), Made::default(), 0);
    println!("{:>6}  {:>7}  {:>8}  {:>10}  {:>10}", "second", "backend", "RSS, MiB", "made", "received");
    let rows = (times.len() as u64 / 20).next_multiple_of(1_000).max(1_000);
    for time in times {
        let start = Instant::now();
        burst(made.bursts, &mut made.records);
        *time = u32::try_from(start.elapsed().as_nanos()).unwrap_or(u32::MAX);
        made.bursts += 1;
        made.spans += SPANS_A_BURST;
        if made.bursts.is_multiple_of(1_000) {
            let now = resident();
            most = most.max(now);
            if made.bursts.is_multiple_of(rows) {
                let state = if backend.is_up() { "up" } else { "down" };
                let (second, received) = (began.elapsed().as_secs(), backend.spans());
                println!("{second:>6}  {state:>7}  {:>8}  {:>10}  {received:>10}", mebibytes(now), made.spans);
            }
        }
        std::thread::sleep(Duration::from_millis(made.bursts).saturating_sub(began.elapsed()));
    }
    (made, most)
}

fn burst(number: u64, records: &mut u64) {
    root(|| (1..SPANS_A_BURST).for_each(|x| child("1b4e28ba-2fa1-11d2-883f-0016d3cca427", number + x)));
    BURSTS.add(1, ());
    IN_BURST.set(SPANS_A_BURST, ());
    SIZES.record(number % 10_000, ());
    if number.is_multiple_of(BURSTS_A_RECORD) {
        log::info!("burst {number}");
        *records += 1;
    }
}

#[inline(never)]
#[tc_span("Soak/Burst")]
fn root(children: impl FnOnce()) {
    children();
}

#[inline(never)]
#[tc_span("Soak/Child", attrs(tracecast::keys::tensor::artifact = text, tracecast::keys::size_bytes = x))]
fn child(text: &str, x: u64) {
    black_box(x);
}

fn check_memory(base: u64, most: u64, limit: u64) -> Option<String> {
    let grown = most.saturating_sub(base);
    println!(
        "memory grew by {} MiB to {} MiB; {} MiB are allowed, of which {} MiB are beyond the limit",
        mebibytes(grown),
        mebibytes(most),
        mebibytes(limit + MARGIN),
        mebibytes(MARGIN)
    );
    (grown > limit + MARGIN).then(|| format!("memory grew by {} MiB", mebibytes(grown)))
}

/// Prints the times of bursts, in nanoseconds; returns a failure if one was blocked.
fn check_times(times: &mut [u32]) -> Option<String> {
    times.sort_unstable();
    let at = |share: f64| times.get((times.len().saturating_sub(1) as f64 * share) as usize).copied().unwrap_or(0);
    let (median, late, longest) = (at(0.5), at(0.999), Duration::from_nanos(at(1.0).into()));
    let spans = f64::from(SPANS_A_BURST as u32);
    println!(
        "the caller's time for a burst of {SPANS_A_BURST} spans: median {:.1} us, p99.9 {:.1} us ({:.0} ns a span), longest {longest:.1?}",
        f64::from(median) / 1e3,
        f64::from(late) / 1e3,
        f64::from(late) / spans,
    );
    (longest > BLOCKED).then(|| format!("a burst took {longest:?}"))
}

/// Returns the resident memory of this process, on Linux.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kibibytes.unwrap_or(0) << 10
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / f64::from(1 << 20))
}
