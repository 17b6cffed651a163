//! Instructions per call, counted by callgrind: the same on every run, whatever else the machine does.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use tracecast::{Metering, MeteringConfig, Recording, RecordingConfig, Sampler};

use crate::work;

/// A scenario runs its work `calls` times; what it costs is the difference between two runs of different length.
type Scenario = (&'static str, fn(u64));

const SCENARIOS: &[Scenario] = &[
    ("plain", |calls| repeat(calls, work::plain)),
    ("off", |calls| repeat(calls, work::span)),
    ("plain result", |calls| repeat(calls, |x| work::plain_result(x).is_ok())),
    ("off, result", |calls| repeat(calls, |x| work::span_result(x).is_ok())),
    ("off, 4 attributes", |calls| repeat(calls, work::span_four)),
    ("plain owned", |calls| repeat(calls, |x| work::plain_owned(x, String::new()))),
    ("off, owned argument", |calls| repeat(calls, |x| work::span_owned(x, String::new()))),
    ("plain async", |calls| repeat(calls, |x| work::drive(work::plain_async(x)))),
    ("off async", |calls| repeat(calls, |x| work::drive(work::span_async(x)))),
    ("unsampled child", |calls| unsampled(|| repeat(calls, work::span))),
    ("unsampled child, 4 attributes", |calls| unsampled(|| repeat(calls, work::span_four))),
    ("unsampled async child", |calls| unsampled(|| repeat(calls, |x| work::drive(work::span_async(x))))),
    ("recorded, 0 attributes", |calls| recorded(calls, work::span)),
    ("recorded, 4 attributes", |calls| recorded(calls, work::span_four)),
    ("recorded async", |calls| recorded(calls, |x| work::drive(work::span_async(x)))),
    #[cfg(feature = "otel")]
    ("unsampled child, interop on", |calls| interop(|| unsampled(|| repeat(calls, work::span)))),
    #[cfg(feature = "otel")]
    ("recorded, interop on", |calls| interop(|| recorded(calls, work::span))),
    #[cfg(feature = "otel")]
    ("recorded polls, interop on", |calls| {
        interop(|| {
            let _recording = start(Sampler::AlwaysOn);
            work::drive(work::span_yields(calls));
        });
    }),
    ("limit", |calls| repeat(calls, |x| work::limit(x, &mut [0; 8]))),
    ("plain polls", |calls| work::drive(work::plain_yields(calls))),
    ("recorded polls", |calls| {
        let _recording = start(Sampler::AlwaysOn);
        work::drive(work::span_yields(calls));
    }),
    ("plain labelled", |calls| repeat(calls, |x| work::call(work::plain_two, x))),
    ("counter off", |calls| repeat(calls, |x| work::call(work::counter_two, x))),
    ("histogram off", |calls| repeat(calls, |x| work::call(work::histogram_two, x))),
    ("gauge off", |calls| repeat(calls, |x| work::call(work::gauge_two, x))),
    ("tc_metric off", |calls| repeat(calls, |x| work::call(work::metric_two, x))),
    ("tc_span and tc_metric off", |calls| repeat(calls, |x| work::call(work::both_two, x))),
    ("counter", |calls| metered(|| repeat(calls, |x| work::call(work::counter_two, x)))),
    ("histogram", |calls| metered(|| repeat(calls, |x| work::call(work::histogram_two, x)))),
    ("tc_metric", |calls| metered(|| repeat(calls, |x| work::call(work::metric_two, x)))),
    ("fastrace, no parent", |calls| repeat(calls, work::fastrace_span)),
];

fn repeat<R>(calls: u64, work: impl Fn(u64) -> R) {
    for call in 0..calls {
        black_box(work(black_box(call)));
    }
}

fn start(sampler: Sampler) -> Recording {
    Recording::start(RecordingConfig { sampler, ..RecordingConfig::default() }).expect("nothing else records")
}

fn unsampled(inside: impl FnOnce()) {
    let _recording = start(Sampler::AlwaysOff);
    work::root(inside);
}

/// With the OpenTelemetry API's spans and ours in one tree.
#[cfg(feature = "otel")]
fn interop(inside: impl FnOnce()) {
    use tracecast::otel::Interop;
    let _interop = tracecast::__bench::Foreign::of_otel(1 << 20, Interop::Boundaries, &[]);
    inside();
}

fn metered(inside: impl FnOnce()) {
    let _metering = Metering::start(MeteringConfig::default()).expect("nothing else meters");
    inside();
}

/// Few enough calls for the default capacity: nothing is drained meanwhile.
fn recorded<R>(calls: u64, work: impl Fn(u64) -> R) {
    let _recording = start(Sampler::AlwaysOn);
    work::root(|| repeat(calls, work));
}

/// Runs one scenario in this process; callgrind watches.
pub fn run_here(scenario: &str, calls: u64) {
    let (_, run) = SCENARIOS.iter().find(|(name, _)| *name == scenario).expect("a known scenario");
    tracecast_measured(*run, calls);
}

/// Callgrind counts inside of this function only: not the start of the program, which varies.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn tracecast_measured(run: fn(u64), calls: u64) {
    run(calls);
}

pub fn print() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return println!("## Instructions\n\nvalgrind is not installed: no instruction counts.\n");
    }
    let this = std::env::current_exe().expect("the path of this program");
    let counts: Vec<(&str, f64)> = SCENARIOS.iter().map(|(name, _)| (*name, per_call(&this, name))).collect();
    let of = |name: &str| counts.iter().find(|(known, _)| *known == name).map_or(f64::NAN, |(_, count)| *count);
    println!(
        "## Instructions per call, by callgrind\n\n| what | instructions | over plain | target |\n|---|---|---|---|"
    );
    for (name, plain, target) in ROWS {
        let (count, over) = (of(name), of(name) - of(plain));
        println!("| {name} | {count:.1} | {over:.1} | {target} |");
    }
    compiled_out();
    println!();
}

/// The same functions in a build with the feature `off`.
fn compiled_out() {
    let this = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = this.join("target/off");
    let built = Command::new("cargo")
        .args(["build", "--release", "--quiet", "--no-default-features", "--features", "off", "--manifest-path"])
        .arg(this.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", &target)
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return println!("| compiled out | could not be built | | 0 |");
    }
    let program = target.join("release/tracecast-benches");
    for (name, plain) in [
        ("off", "plain"),
        ("off, 4 attributes", "plain"),
        ("off, result", "plain result"),
        ("off async", "plain async"),
        ("counter off", "plain labelled"),
        ("tc_span and tc_metric off", "plain labelled"),
    ] {
        let (count, plain) = (per_call(&program, name), per_call(&program, plain));
        println!(
            "| compiled out: {} | {count:.1} | {:.1} | 0 |",
            name.replace("off, ", "").replace("off async", "async").replace(" off", "").replace("off", "sync"),
            count - plain
        );
    }
}

/// What is shown, over which plain work, and its target.
const ROWS: &[(&str, &str, &str)] = &[
    ("plain", "plain", ""),
    ("off", "plain", "<= 3"),
    ("off, 4 attributes", "plain", "<= 3"),
    ("off, owned argument", "plain owned", ""),
    ("off, result", "plain result", "<= 3"),
    ("off async", "plain async", "<= 20"),
    ("unsampled child", "plain", "<= 45"),
    ("unsampled child, 4 attributes", "plain", "<= 45"),
    ("unsampled async child", "plain async", ""),
    #[cfg(feature = "otel")]
    ("unsampled child, interop on", "plain", "<= 80"),
    #[cfg(feature = "otel")]
    ("recorded, interop on", "plain", ""),
    #[cfg(feature = "otel")]
    ("recorded polls, interop on", "plain polls", ""),
    ("recorded polls", "plain polls", "<= 40 a poll"),
    ("counter off", "plain labelled", "<= 3"),
    ("histogram off", "plain labelled", "<= 3"),
    ("gauge off", "plain labelled", "<= 3"),
    ("tc_metric off", "plain labelled", "<= 3"),
    ("tc_span and tc_metric off", "plain labelled", "<= 3"),
    ("counter", "plain labelled", ""),
    ("histogram", "plain labelled", ""),
    ("tc_metric", "plain labelled", ""),
    ("limit", "plain", ""),
    ("recorded, 0 attributes", "plain", ""),
    ("recorded, 4 attributes", "plain", ""),
    ("recorded async", "plain async", ""),
    ("fastrace, no parent", "plain", ""),
];

fn per_call(program: &Path, scenario: &str) -> f64 {
    // So many that what happens once in a while, as setting the clock right, does not show.
    let (few, many) = (1_000, 101_000);
    (collected(program, scenario, many) as f64 - collected(program, scenario, few) as f64) / (many - few) as f64
}

fn collected(program: &Path, scenario: &str, calls: u64) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=tracecast_measured"])
        .arg(program)
        .args(["--count", scenario, &calls.to_string()])
        .output()
        .expect("valgrind starts");
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| line.contains("Collected :")).unwrap_or_else(|| panic!("{scenario}: {text}"));
    line.rsplit(' ').next().and_then(|count| count.parse().ok()).expect("a count")
}
