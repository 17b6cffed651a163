//! Counts instructions per call with callgrind: the result is the same on every run, independent of load.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use tracecast::Sampler;
use tracecast::testing::{MetricsConfig, MetricsGuard, Recording, RecordingConfig};

use crate::callgrind::Extent;
use crate::report::{Report, Section, of_peer};
#[cfg(feature = "peers")]
use crate::spans;
use crate::{by_hand, callgrind, work};

/// A scenario runs its work `calls` times; its cost is the difference between two runs of different length.
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
    ("plain returned future", |calls| repeat(calls, |x| work::drive(work::plain_returned(x)))),
    ("off, returned future", |calls| repeat(calls, |x| work::drive(work::span_returned(x)))),
    ("unsampled child", |calls| unsampled(|| repeat(calls, work::span))),
    ("unsampled child, 4 attributes", |calls| unsampled(|| repeat(calls, work::span_four))),
    ("unsampled async child", |calls| unsampled(|| repeat(calls, |x| work::drive(work::span_async(x))))),
    ("unsampled async child, by hand", |calls| {
        by_hand::rooted(|| repeat(calls, |x| work::drive(by_hand::unsampled_async(x))));
    }),
    ("recorded, 0 attributes", |calls| recorded(calls, work::span)),
    ("recorded, 4 attributes", |calls| recorded(calls, work::span_four)),
    ("recorded, result", |calls| recorded(calls, |x| work::span_result(x).is_ok())),
    ("recorded, result attribute", |calls| recorded(calls, |x| work::span_result_attribute(x).is_ok())),
    ("recorded async", |calls| recorded(calls, |x| work::drive(work::span_async(x)))),
    // Eleven spans per call.
    ("recorded async chain, a span", |calls| recorded(calls / 11, |x| work::drive(work::chain(x)))),
    #[cfg(feature = "otel")]
    ("unsampled child, interop on", |calls| interop(|| unsampled(|| repeat(calls, work::span)))),
    #[cfg(feature = "otel")]
    ("recorded, interop on", |calls| interop(|| recorded(calls, work::span))),
    #[cfg(feature = "otel")]
    ("recorded polls, interop on", |calls| {
        interop(|| {
            let _recording = start(Sampler::AlwaysOn);
            measured(|| work::drive(work::span_yields(calls)));
        });
    }),
    ("limit", |calls| repeat(calls, |x| work::limit(x, &mut [0; 8]))),
    ("plain polls", |calls| measured(|| work::drive(work::plain_yields(calls)))),
    ("recorded polls", |calls| {
        let _recording = start(Sampler::AlwaysOn);
        measured(|| work::drive(work::span_yields(calls)));
    }),
    ("recorded polls, watched", |calls| {
        let recording = start(Sampler::AlwaysOn);
        recording.set_watching(true);
        measured(|| work::drive(work::span_yields(calls)));
    }),
    ("recorded polls, with busy times", |calls| {
        let recording = start(Sampler::AlwaysOn);
        recording.set_busy_times("*=on".parse().expect("a filter"));
        measured(|| work::drive(work::span_yields(calls)));
    }),
    ("recorded, watched", |calls| {
        let recording = start(Sampler::AlwaysOn);
        recording.set_watching(true);
        work::root(|| repeat(calls, work::span));
    }),
    ("plain labelled", |calls| repeat(calls, |x| work::call(work::plain_two, x))),
    ("counter off", |calls| repeat(calls, |x| work::call(work::counter_two, x))),
    ("histogram off", |calls| repeat(calls, |x| work::call(work::histogram_two, x))),
    ("gauge off", |calls| repeat(calls, |x| work::call(work::gauge_two, x))),
    ("tc_metric off", |calls| repeat(calls, |x| work::call(work::metric_two, x))),
    ("tc_span and tc_metric off", |calls| repeat(calls, |x| work::call(work::both_two, x))),
    ("counter", |calls| metered(|| repeat(calls, |x| work::call(work::counter_two, x)))),
    ("histogram", |calls| metered(|| repeat(calls, |x| work::call(work::histogram_two, x)))),
    ("exponential histogram", |calls| metered(|| repeat(calls, |x| work::call(work::exponential_two, x)))),
    ("tc_span and tc_metric", |calls| metered(|| recorded(calls, |x| work::call(work::both_two, x)))),
    ("tc_metric", |calls| metered(|| repeat(calls, |x| work::call(work::metric_two, x)))),
    ("fastrace, no parent", |calls| repeat(calls, work::fastrace_span)),
    #[cfg(feature = "peers")]
    ("fastrace, unsampled async child", |calls| measured(|| spans::unsampled_async(calls))),
    #[cfg(feature = "peers")]
    ("tracing, no subscriber", |calls| measured(|| spans::count(spans::TRACING, spans::Phase::Off, calls))),
    #[cfg(feature = "peers")]
    ("SdkTracer, unsampled", |calls| measured(|| spans::count(spans::SDK, spans::Phase::Unsampled, calls))),
    #[cfg(feature = "peers")]
    ("tracing-opentelemetry, unsampled", |calls| {
        measured(|| spans::count(spans::TRACING, spans::Phase::Unsampled, calls));
    }),
];

fn repeat<R>(calls: u64, work: impl Fn(u64) -> R) {
    measured(|| {
        for call in 0..calls {
            black_box(work(black_box(call)));
        }
    });
}

fn start(sampler: Sampler) -> Recording {
    Recording::start(RecordingConfig::default().with_sampler(sampler)).expect("nothing else records")
}

fn unsampled(inside: impl FnOnce()) {
    let _recording = start(Sampler::AlwaysOff);
    work::root(inside);
}

/// With the OpenTelemetry API's spans and ours in one tree: the feature `otel`.
#[cfg(feature = "otel")]
fn interop(inside: impl FnOnce()) {
    use tracecast::otel::Interop;
    let _interop = tracecast::__bench::ExternalSpans::of_otel(1 << 20, Interop::Boundaries, &[]);
    inside();
}

fn metered(inside: impl FnOnce()) {
    let _metering = MetricsGuard::start(MetricsConfig::default()).expect("nothing else meters");
    inside();
}

/// Few enough calls for the default capacity, so that nothing is drained meanwhile.
fn recorded<R>(calls: u64, work: impl Fn(u64) -> R) {
    let _recording = start(Sampler::AlwaysOn);
    work::root(|| repeat(calls, work));
}

/// Runs one scenario in this process, under callgrind.
pub fn run_here(scenario: &str, calls: u64) {
    let (_, run) = SCENARIOS.iter().find(|(name, _)| *name == scenario).expect("a known scenario");
    run(calls);
}

/// The function inside which callgrind counts. Starting recording and metering is outside, because it calibrates the
/// clock, with a varying number of instructions.
fn measured(mut inside: impl FnMut()) {
    tracecast_measured(&mut inside);
}

/// Callgrind finds the function by its name.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn tracecast_measured(inside: &mut dyn FnMut()) {
    inside();
}

pub fn report(quick: bool, report: &mut Report) {
    count(Extent::of(quick), report);
}

pub fn count(extent: Extent, report: &mut Report) {
    let mut section = Section::new("Instructions per call, by callgrind", ["what", "instructions", "over plain"]);
    if Command::new("valgrind").arg("--version").output().is_err() {
        section.note("valgrind is not installed: no instruction counts.");
        return report.add(section);
    }
    let this = std::env::current_exe().expect("the path of this program");
    let quick = extent == Extent::Quick;
    let rows = ROWS.iter().filter(|(name, _, _)| extent.has(name, &QUICK));
    let wanted = |name: &str| rows.clone().any(|(shown, plain, _)| [shown, plain].contains(&&name));
    let names: Vec<&str> = SCENARIOS.iter().map(|(name, _)| *name).filter(|name| wanted(name)).collect();
    let counts = callgrind::at_once(&names, |name| (*name, per_call(&this, name, quick)));
    let of = |name: &str| counts.iter().find(|(known, _)| *known == name).map_or(f64::NAN, |(_, count)| *count);
    for (name, plain, target) in rows.clone() {
        let (count, over) = (of(name), of(name) - of(plain));
        section.row([(*name).to_owned(), format!("{count:.1}"), format!("{over:.1}")]);
        if let Some(limit) = target {
            let peer = |name: &str| of_peer(name, of(name) - of("plain"));
            let peer = match *name {
                "off" => {
                    format!("{} {}", peer("tracing, no subscriber"), peer("fastrace, no parent")).trim().to_owned()
                }
                "unsampled child" => peer("SdkTracer, unsampled"),
                "unsampled async child" => of_peer("fastrace", of("fastrace, unsampled async child") - of(plain)),
                _ => String::new(),
            };
            let by_hand = format!("{name}, by hand");
            let by_hand = rows
                .clone()
                .find(|(known, _, _)| *known == by_hand)
                .map_or(f64::NAN, |(_, plain, _)| of(&by_hand) - of(plain));
            report.goal(*name, over, *limit, "instructions", peer).by_hand(by_hand);
        }
    }
    if extent == Extent::All {
        // A separate build, which takes a minute.
        compiled_out(&mut section, report);
    }
    report.add(section);
}

/// The counts of a quick run: each run under valgrind takes a second.
const QUICK: [&str; 5] = ["off", "off async", "unsampled child", "recorded polls", "counter off"];

/// The same functions in a build with the feature `off`.
fn compiled_out(section: &mut Section, report: &mut Report) {
    let this = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = this.join("target/off");
    let built = Command::new("cargo")
        .args(["build", "--release", "--quiet", "--no-default-features", "--features", "off", "--manifest-path"])
        .arg(this.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", &target)
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return section.note("The build with the feature `off` failed: nothing is known of what is compiled out.");
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
        let (count, plain) = (per_call(&program, name, false), per_call(&program, plain, false));
        let name = name.replace("off, ", "").replace("off async", "async").replace(" off", "").replace("off", "sync");
        let name = format!("compiled out: {name}");
        section.row([name.clone(), format!("{count:.1}"), format!("{:.1}", count - plain)]);
        report.goal(name, count - plain, 0.0, "instructions", "");
    }
}

/// The rows: a scenario, the plain work to subtract, and the target.
const ROWS: &[(&str, &str, Option<f64>)] = &[
    ("plain", "plain", None),
    ("off", "plain", Some(3.0)),
    ("off, 4 attributes", "plain", Some(3.0)),
    ("off, owned argument", "plain owned", None),
    ("off, result", "plain result", Some(3.0)),
    ("off async", "plain async", Some(20.0)),
    ("off, returned future", "plain returned future", Some(20.0)),
    ("unsampled child", "plain", Some(45.0)),
    ("unsampled child, 4 attributes", "plain", Some(45.0)),
    ("unsampled async child", "plain async", Some(80.0)),
    ("unsampled async child, by hand", "plain async", None),
    #[cfg(feature = "otel")]
    ("unsampled child, interop on", "plain", Some(80.0)),
    #[cfg(feature = "otel")]
    ("recorded, interop on", "plain", None),
    #[cfg(feature = "otel")]
    ("recorded polls, interop on", "plain polls", None),
    ("recorded polls", "plain polls", Some(40.0)),
    ("recorded polls, watched", "plain polls", None),
    ("recorded polls, with busy times", "plain polls", None),
    ("counter off", "plain labelled", Some(3.0)),
    ("histogram off", "plain labelled", Some(3.0)),
    ("gauge off", "plain labelled", Some(3.0)),
    ("tc_metric off", "plain labelled", Some(3.0)),
    ("tc_span and tc_metric off", "plain labelled", Some(3.0)),
    ("counter", "plain labelled", None),
    ("histogram", "plain labelled", None),
    ("exponential histogram", "plain labelled", None),
    ("tc_metric", "plain labelled", None),
    ("tc_span and tc_metric", "plain labelled", None),
    ("limit", "plain", None),
    ("recorded, 0 attributes", "plain", None),
    ("recorded, watched", "plain", None),
    ("recorded, 4 attributes", "plain", None),
    ("recorded, result", "plain result", None),
    ("recorded, result attribute", "plain result", None),
    ("recorded async", "plain async", None),
    ("recorded async chain, a span", "plain async", None),
    ("fastrace, no parent", "plain", None),
    #[cfg(feature = "peers")]
    ("fastrace, unsampled async child", "plain async", None),
    #[cfg(feature = "peers")]
    ("tracing, no subscriber", "plain", None),
    #[cfg(feature = "peers")]
    ("SdkTracer, unsampled", "plain", None),
    #[cfg(feature = "peers")]
    ("tracing-opentelemetry, unsampled", "plain", None),
];

fn per_call(program: &Path, scenario: &str, quick: bool) -> f64 {
    // Enough calls that rare work, such as calibrating the clock, has no effect.
    let (few, many) = (1_000, 101_000);
    // In a quick run the start-up is not subtracted.
    let first = if quick { 0 } else { collected(program, scenario, few) };
    (collected(program, scenario, many) as f64 - first as f64) / (many - if quick { 0 } else { few }) as f64
}

fn collected(program: &Path, scenario: &str, calls: u64) -> u64 {
    let arguments = ["--count", scenario, &calls.to_string()];
    callgrind::collected_of(program, "tracecast_measured", &arguments).expect("valgrind starts")
}
