//! Annotated calls with spans, metrics or both, beside their minimum: two clock readings and a store of 64 bytes.

#[cfg(feature = "peers")]
mod peers;

use std::hint::black_box;
use std::time::Instant;

use tracecast::testing::{MetricsConfig, MetricsGuard, Recording, RecordingConfig};

use crate::report::{Report, Section, figure, of_peer};
use crate::stats::undisturbed;
use crate::timed::Timed;
use crate::{by_hand, work};

/// Calls per round: about as many spans as a chunk or two can hold.
const CALLS: u64 = 200;

/// The call, the contender to compare with, and the limit of the ratio.
#[derive(Clone, Copy)]
struct Contender {
    name: &'static str,
    round: fn(),
    over: &'static str,
    target: Option<f64>,
}

const LIMIT: &str = "two rdtsc + 64 B store";
const LIMIT_CHAIN: &str = "11 times that over 10 awaits";
const ZERO: &str = "recorded span, 0 attributes";
const FOUR: &str = "recorded span, 4 attributes";
const RESULT: &str = "recorded span of a `Result`, 1 attribute of its value";
const METRIC: &str = "`tc_metric`: calls, duration, in flight";
const BOTH: &str = "recorded span and `tc_metric`: calls, duration";
const CHAIN: &str = "11 recorded async spans over 10 awaits";
const CHAIN_BY_HAND: &str = "11 times that over 10 awaits, ids carried by hand";

/// The peers that are shown beside a target.
#[cfg(feature = "peers")]
const PEERS: [(&str, &str); 6] = [
    (ZERO, peers::ZERO),
    (FOUR, peers::FOUR),
    (RESULT, peers::RESULT),
    (METRIC, peers::METRIC),
    (BOTH, peers::BOTH),
    (CHAIN, peers::CHAIN),
];
#[cfg(not(feature = "peers"))]
const PEERS: [(&str, &str); 0] = [];

const OURS: &[Contender] = &[
    of(LIMIT, || repeat(|x| work::limit(x, &mut [0; 8])), LIMIT, None),
    of(ZERO, || rooted(work::span), LIMIT, Some(1.3)),
    of(FOUR, || rooted(work::span_four), LIMIT, Some(1.35)),
    of("recorded span of a `Result`", || rooted(|x| work::span_result(x).is_ok()), LIMIT, None),
    of(RESULT, || rooted(|x| work::span_result_attribute(x).is_ok()), LIMIT, Some(1.3)),
    of(METRIC, || repeat(|x| work::call(work::metric_two, x)), LIMIT, Some(1.7)),
    of(BOTH, || rooted(|x| work::call(work::both_two, x)), LIMIT, Some(1.8)),
    of(LIMIT_CHAIN, || chains(|x| work::drive(work::limit_chain(x))), LIMIT_CHAIN, None),
    of(CHAIN_BY_HAND, || by_hand::rooted(|| chains(|x| work::drive(by_hand::chain(x)))), LIMIT_CHAIN, None),
    of(CHAIN, || work::root(|| chains(|x| work::drive(work::chain(x)))), LIMIT_CHAIN, Some(1.6)),
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

/// A tenth of the calls: each has eleven spans.
fn chains(chain: impl Fn(u64) -> u64) {
    for x in 0..CALLS / 10 {
        black_box(chain(black_box(x)));
    }
}

/// Times the control, which takes longer while another program uses the other half of the core.
fn control() -> f64 {
    let start = Instant::now();
    black_box(work::wide(black_box(1)));
    start.elapsed().as_nanos() as f64
}

/// The fewest undisturbed rounds from which a median is taken.
const ENOUGH: usize = 50;

/// Sets rounds with a disturbed control to NaN, if enough others are left, and returns a sentence with their number.
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

/// Our calls and, if they are built, those of peers.
fn contenders() -> Vec<Contender> {
    let mut all = OURS.to_vec();
    #[cfg(feature = "peers")]
    {
        peers::start();
        all.extend(peers::CONTENDERS);
    }
    all
}

pub fn report(quick: bool, report: &mut Report) {
    let contenders = contenders();
    let _metering = MetricsGuard::start(MetricsConfig::default()).expect("nothing else meters");
    let recording = Recording::start(RecordingConfig::default()).expect("nothing else records");
    let mut timed = Timed::of(contenders.iter().map(|contender| contender.name));
    let mut controls = vec![Vec::new(); timed.len()];
    for _ in 0..if quick { 20 } else { 2_000 } {
        for ((Contender { round, .. }, timed), controls) in contenders.iter().zip(&mut timed).zip(&mut controls) {
            // Warms the caches that another contender evicted.
            round();
            let before = control();
            let start = Instant::now();
            round();
            timed.rounds.push(start.elapsed().as_nanos() as f64 / CALLS as f64);
            controls.push(before.max(control()));
            black_box(recording.drain());
            #[cfg(feature = "peers")]
            peers::settle();
        }
    }
    let quiet = leave_out_disturbed(&mut timed, &controls);
    let columns = ["what", "ns", "x limit", "best rounds, x limit"];
    let mut section = Section::new("Time per annotated call, medians of interleaved rounds", columns);
    for (Contender { name, over, target, .. }, this) in contenders.iter().zip(&timed) {
        let Some(limit) = timed.iter().find(|timed| timed.name == *over) else { continue };
        // A ratio of medians: with few undisturbed rounds, both are rarely undisturbed in the same one.
        let over_limit = |name: &str| {
            let named = timed.iter().find(|timed| timed.name == name);
            named.map_or(f64::NAN, |this| this.median().value / limit.median().value)
        };
        let ratio = over_limit(name);
        let best = this.best() / limit.best();
        section.row([(*name).to_owned(), this.median().to_string(), figure(ratio), figure(best)]);
        if let Some(target) = target {
            let peer = PEERS.iter().find(|(ours, _)| ours == name);
            let peer = peer.map_or_else(String::new, |(_, theirs)| of_peer(theirs, over_limit(theirs)));
            let by_hand = if *name == CHAIN { over_limit(CHAIN_BY_HAND) } else { f64::NAN };
            report.goal(*name, ratio, *target, "x the limit", peer).by_hand(by_hand);
        }
    }
    section.note(quiet);
    section.note("The rows over awaits are a tenth of a chain. Rounds include the root below which they run.");
    report.add(section);
}
