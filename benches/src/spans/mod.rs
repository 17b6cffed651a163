//! Spans, ours and peers': off, unsampled, recorded; on one thread and on two at the same time.

mod cases;
mod fastrace;
mod foundations;
mod library;
mod ours;
mod plain;
mod rounds;
mod sdk;
mod tracing;

pub use fastrace::{Fastrace, unsampled_async};
pub use library::{Library, Phase};
pub use rounds::run_here;

use ::tracecast::testing::{Recording, RecordingConfig};

use crate::alloc;
use crate::chart::{Bar, Chart};
use crate::report::{Report, Section, figure};
use crate::stats::Median;
use rounds::Timed;

const OURS: &str = "tracecast";
const LIMIT: &str = "limit";
const FASTRACE: &str = "fastrace";
const FOUNDATIONS: &str = "foundations";
pub const SDK: &str = "opentelemetry_sdk";
pub const TRACING: &str = "tracing-opentelemetry";

pub fn report(quick: bool, report: &mut Report) -> Vec<Chart> {
    let (rounds, together) = if quick { (10, 3) } else { (1_000, 300) };
    let one: Vec<Timed> = Phase::ALL.into_iter().flat_map(|phase| rounds::measure(phase, 1, rounds)).collect();
    let two = rounds::measure(Phase::Recorded, 2, together);
    report.add(one_thread(&one));
    report.add(disturbed(&one));
    report.add(two_threads(&one, &two));
    goals(&one, report);
    report.goal("recorded span, two strings of 36 bytes", allocations() as f64, 0.0, "allocations in 200 spans", "");
    charts(&one)
}

fn allocations() -> u64 {
    let _recording = Recording::start(RecordingConfig::default()).expect("nothing else records");
    // The first round may be the thread's first.
    (cases::STRINGS_RECORDED)();
    alloc::count(cases::STRINGS_RECORDED)
}

/// Records spans without attributes below a root, under callgrind.
pub fn count(library: &str, phase: Phase, calls: u64) {
    match library {
        SDK => cases::count::<sdk::Sdk>(phase, calls),
        _ => cases::count::<tracing::Tracing>(phase, calls),
    }
}

fn find<'a>(all: &'a [Timed], phase: Phase, case: &str, library: &str) -> Option<&'a Timed> {
    all.iter().find(|timed| timed.phase == phase && timed.case == case && timed.library == library)
}

fn one_thread(all: &[Timed]) -> Section {
    let mut section = Section::new(
        "Time per span or per piece of work, medians of interleaved rounds with their 95 % intervals",
        ["phase", "what", "library", "ns", "x limit", "tracecast / this"],
    );
    for timed in all {
        let ratio = |library: &str, upside_down: bool| {
            let other = find(all, timed.phase, &timed.case, library);
            let ratio = other.map(|other| match upside_down {
                true => Median::of_ratios(&other.rounds, &timed.rounds),
                false => Median::of_ratios(&timed.rounds, &other.rounds),
            });
            ratio.map_or_else(String::new, |ratio| ratio.to_string())
        };
        let ns = Median::of(timed.rounds.iter().copied()).to_string();
        let (limit, ours) = (ratio(LIMIT, false), ratio(OURS, true));
        section.row([timed.phase.name().to_owned(), timed.case.clone(), timed.library.clone(), ns, limit, ours]);
    }
    section.note(
        "Each round is made twice, and timed the second time. Rounds include the root below which they run. \
         `opentelemetry_sdk` has no row for off: without a provider there is nothing to measure. Off is without a parent for fastrace, without a subscriber for `tracing`, without `init` for \
         foundations. foundations 5.11 takes no exporter: its spans go over UDP, one in a datagram, to a socket that throws them \
         away, between the rounds.",
    );
    section
}

/// The same rounds while a neighbour used the other half of the core, as is common on servers.
fn disturbed(all: &[Timed]) -> Section {
    let finite = |rounds: &[f64]| rounds.iter().filter(|round| round.is_finite()).count();
    let columns = ["what", "library", "ns", "x limit", "x undisturbed"];
    let mut section = Section::new("The same in rounds that were disturbed, recorded", columns);
    let recorded = || all.iter().filter(|timed| timed.phase == Phase::Recorded);
    let counted: usize = recorded().map(|timed| finite(&timed.rounds)).sum();
    let share = 1.0 - counted as f64 / recorded().map(|timed| timed.rounds.len()).sum::<usize>().max(1) as f64;
    for timed in recorded().filter(|timed| finite(&timed.rounds) < timed.rounds.len()) {
        let limit = find(all, timed.phase, &timed.case, LIMIT);
        let over = limit.map_or(f64::NAN, |limit| Median::of_ratios(&timed.disturbed, &limit.disturbed).value);
        let [quiet, slow] = [&timed.rounds, &timed.disturbed].map(|rounds| Median::of(rounds.iter().copied()));
        let (ns, slower) = (slow.to_string(), figure(slow.value / quiet.value));
        section.row([timed.case.clone(), timed.library.clone(), ns, figure(over), slower]);
    }
    section.note(format!(
        "{:.0} % of the rounds: those around which a loop that needs the whole width of a core took more than 1.15 times as long \
         as at its best, because something outside of this program shared the core. They do not count in the table above. If \
         hardly any were quiet, all count, and this table is empty. Reading the clock takes no longer then, everything around \
         it does.",
        100.0 * share
    ));
    section
}

fn two_threads(one: &[Timed], two: &[Timed]) -> Section {
    let columns = ["what", "library", "ns on 1 thread", "ns on 2 threads", "x 1 thread"];
    let mut section = Section::new("The same on two threads at the same time, recorded", columns);
    for timed in two {
        let alone = find(one, timed.phase, &timed.case, &timed.library);
        // Disturbed or not: here all rounds count.
        let all = alone.into_iter().flat_map(|alone| alone.rounds.iter().chain(&alone.disturbed).copied());
        let alone = Median::of(all);
        let both = Median::of(timed.rounds.iter().copied());
        let slower = figure(both.value / alone.value);
        section.row([timed.case.clone(), timed.library.clone(), alone.to_string(), both.to_string(), slower]);
    }
    section
}

/// The ratio of ours to a peer, as the median of the rounds' ratios.
fn ratio(all: &[Timed], case: &str, library: &str) -> f64 {
    let of = |library: &str| find(all, Phase::Recorded, case, library);
    of(OURS).zip(of(library)).map_or(f64::NAN, |(ours, other)| Median::of_ratios(&ours.rounds, &other.rounds).value)
}

fn goals(all: &[Timed], report: &mut Report) {
    let over_limit = |case: &str, library: &str| {
        let of = |library: &str| find(all, Phase::Recorded, case, library);
        let ratio =
            of(library).zip(of(LIMIT)).map(|(this, limit)| Median::of_ratios(&this.rounds, &limit.rounds).value);
        format!("{library} {}", figure(ratio.unwrap_or(f64::NAN)))
    };
    for (case, limit) in [(cases::ZERO, 1.3), (cases::FOUR, 1.35)] {
        let peer = over_limit(case, FASTRACE);
        report.goal(
            format!("recorded span, {case}"),
            ratio(all, case, LIMIT),
            limit,
            "x (two rdtsc + 64 B store)",
            peer,
        );
        report.goal(format!("recorded span, {case}"), ratio(all, case, FASTRACE), 0.5, "x fastrace", "");
        report.goal(format!("recorded span, {case}"), ratio(all, case, SDK), 0.12, "x SdkTracer", "");
        report.goal(format!("recorded span, {case}"), ratio(all, case, TRACING), 0.05, "x tracing-opentelemetry", "");
    }
}

fn charts(all: &[Timed]) -> Vec<Chart> {
    let chart = |title, phase, case| {
        let bars = [LIMIT, OURS, FASTRACE, FOUNDATIONS, SDK, TRACING].into_iter().filter_map(|library| {
            let value = Median::of(find(all, phase, case, library)?.rounds.iter().copied()).value;
            Some(Bar { label: library.to_owned(), value, ours: library == OURS })
        });
        Chart { title, unit: "ns", bars: bars.collect() }
    };
    vec![
        chart("Recorded span, 4 attributes", Phase::Recorded, cases::FOUR),
        chart("Recorded tree of 100 spans", Phase::Recorded, cases::TREE),
        chart("Unsampled span", Phase::Unsampled, cases::ZERO),
    ]
}
