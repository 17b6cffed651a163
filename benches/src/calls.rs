//! Annotated calls with spans, metrics or both, beside what none of them can do without: two readings of the clock and 64 bytes
//! stored.

use std::hint::black_box;
use std::time::Instant;

use tracecast::testing::{MetricsConfig, MetricsGuard, Recording, RecordingConfig};

use crate::report::{Report, Section, figure};
use crate::stats::undisturbed;
use crate::timed::Timed;
use crate::{by_hand, work};

/// Calls in a round: about as many spans as a chunk or two can hold.
const CALLS: u64 = 200;

/// What is called, the contender with which it is compared, and how many times as long it may take.
struct Contender {
    name: &'static str,
    round: fn(),
    over: &'static str,
    target: Option<f64>,
}

const LIMIT: &str = "two rdtsc + 64 B store";
const LIMIT_CHAIN: &str = "11 times that over 10 awaits";

const CONTENDERS: &[Contender] = &[
    of(LIMIT, || repeat(|x| work::limit(x, &mut [0; 8])), LIMIT, None),
    of("recorded span, 0 attributes", || rooted(work::span), LIMIT, Some(1.3)),
    of("recorded span, 4 attributes", || rooted(work::span_four), LIMIT, Some(1.35)),
    of("recorded span of a `Result`", || rooted(|x| work::span_result(x).is_ok()), LIMIT, None),
    of(
        "recorded span of a `Result`, 1 attribute of its value",
        || rooted(|x| work::span_result_attribute(x).is_ok()),
        LIMIT,
        Some(1.3),
    ),
    of("`tc_metric`: calls, duration, in flight", || repeat(|x| work::call(work::metric_two, x)), LIMIT, Some(1.7)),
    of(
        "recorded span and `tc_metric`: calls, duration",
        || rooted(|x| work::call(work::both_two, x)),
        LIMIT,
        Some(1.8),
    ),
    of(LIMIT_CHAIN, || chains(|x| work::drive(work::limit_chain(x))), LIMIT_CHAIN, None),
    of(
        "11 times that over 10 awaits, ids carried by hand",
        || by_hand::rooted(|| chains(|x| work::drive(by_hand::chain(x)))),
        LIMIT_CHAIN,
        None,
    ),
    of(
        "11 recorded async spans over 10 awaits",
        || work::root(|| chains(|x| work::drive(work::chain(x)))),
        LIMIT_CHAIN,
        Some(1.6),
    ),
];

const fn of(name: &'static str, round: fn(), over: &'static str, target: Option<f64>) -> Contender {
    Contender { name, round, over, target }
}

fn repeat<R>(work: impl Fn(u64) -> R) {
    for x in 0..CALLS {
        black_box(work(black_box(x)));
    }
}

fn rooted<R>(work: impl Fn(u64) -> R) {
    work::root(|| repeat(work));
}

/// A tenth of them: each has eleven spans.
fn chains(chain: impl Fn(u64) -> u64) {
    for x in 0..CALLS / 10 {
        black_box(chain(black_box(x)));
    }
}

/// Takes longer while something outside of this program has the other half of the core.
fn control() -> f64 {
    let start = Instant::now();
    black_box(work::wide(black_box(1)));
    start.elapsed().as_nanos() as f64
}

/// The smallest number of undisturbed rounds from which a median is taken.
const ENOUGH: usize = 50;

/// Makes rounds around which the control was disturbed no number, if enough others are left, and says how many there are.
fn leave_out_disturbed(timed: &mut [Timed], controls: &[Vec<f64>]) -> String {
    let good = undisturbed(controls.iter().flatten().copied());
    let quiet = |controls: &Vec<f64>| controls.iter().filter(|control| **control <= good).count();
    let least = controls.iter().map(quiet).min().unwrap_or(0);
    if least < ENOUGH {
        return format!("Hardly any round was undisturbed ({least}), so that all count: the best ones tell more.");
    }
    for (timed, controls) in timed.iter_mut().zip(controls) {
        for (round, control) in timed.rounds.iter_mut().zip(controls) {
            *round = if *control <= good { *round } else { f64::NAN };
        }
    }
    format!("Of each row at least {least} rounds were undisturbed, and these count.")
}

pub fn report(quick: bool, report: &mut Report) {
    let _metering = MetricsGuard::start(MetricsConfig::default()).expect("nothing else meters");
    let recording = Recording::start(RecordingConfig::default()).expect("nothing else records");
    let mut timed = Timed::of(CONTENDERS.iter().map(|contender| contender.name));
    let mut controls = vec![Vec::new(); timed.len()];
    for _ in 0..if quick { 20 } else { 2_000 } {
        for ((Contender { round, .. }, timed), controls) in CONTENDERS.iter().zip(&mut timed).zip(&mut controls) {
            // Brings into the caches what another one has driven out.
            round();
            let before = control();
            let start = Instant::now();
            round();
            timed.rounds.push(start.elapsed().as_nanos() as f64 / CALLS as f64);
            controls.push(before.max(control()));
            black_box(recording.drain());
        }
    }
    let quiet = leave_out_disturbed(&mut timed, &controls);
    let columns = ["what", "ns", "x limit", "best rounds, x limit"];
    let mut section = Section::new("Time per annotated call, medians of interleaved rounds", columns);
    for (Contender { name, over, target, .. }, this) in CONTENDERS.iter().zip(&timed) {
        let Some(limit) = timed.iter().find(|timed| timed.name == *over) else { continue };
        // Of medians: where few rounds are undisturbed, those of both are seldom the same.
        let ratio = this.median().value / limit.median().value;
        let best = this.best() / limit.best();
        section.row([(*name).to_owned(), this.median().to_string(), figure(ratio), figure(best)]);
        if let Some(target) = target {
            report.goal(*name, ratio, *target, "x the limit", "");
        }
    }
    section.note(quiet);
    section.note("The rows over awaits are a tenth of a chain. Rounds include the root below which they run.");
    report.add(section);
}
