//! Metrics compared with one `fetch_add`, on one thread and on two at the same time.

mod ours;
#[cfg(feature = "peers")]
mod peers;

use std::hint::black_box;
use std::time::Instant;

use tracecast::testing::{MetricsConfig, MetricsGuard};

use crate::chart::{Bar, Chart};
use crate::report::{Report, Section, figure, of_peer};
use crate::stats::Median;
use crate::timed::Timed;
use crate::work::{self, Labelled};
use crate::{alloc, side_by_side};

/// Calls per round.
const CALLS: u64 = 2_000;

type Contender = (&'static str, fn());

const OURS: &[Contender] = &[
    (BASE, || repeat_labelled(work::fetch_add)),
    ("`fetch_add` on a number per thread", || repeat_labelled(work::fetch_add_own)),
    (ARITHMETIC, || repeat_labelled(work::arithmetic)),
    ("counter, no labels", || repeat_labelled(work::counter_plain)),
    (COUNTER, || repeat_labelled(work::counter_two)),
    ("counter, 3 labels", || repeat_labelled(ours::counter_three)),
    ("counter of f64, 2 labels", || repeat_labelled(work::counter_f64_two)),
    ("up-down counter, 2 labels", || repeat_labelled(work::up_down_two)),
    ("gauge, no labels", || repeat_labelled(ours::gauge_plain)),
    ("gauge, 2 labels", || repeat_labelled(work::gauge_two)),
    ("gauge, 3 labels", || repeat_labelled(ours::gauge_three)),
    ("histogram, no labels", || repeat_labelled(ours::histogram_plain)),
    (HISTOGRAM, || repeat_labelled(work::histogram_two)),
    ("histogram, 3 labels", || repeat_labelled(ours::histogram_three)),
    (EXPONENTIAL, || repeat_labelled(work::exponential_two)),
    ("two readings of the clock", || repeat_labelled(work::clocks)),
    ("`tc_metric`: calls, duration, in flight, 2 labels", || repeat_labelled(work::metric_two)),
];

/// Our metrics and, if they are built, those of peers.
fn contenders() -> Vec<Contender> {
    let mut all = OURS.to_vec();
    #[cfg(feature = "peers")]
    all.extend(peers::contenders());
    all
}

const BASE: &str = "`AtomicU64::fetch_add`";
const ARITHMETIC: &str = "arithmetic without memory";
const COUNTER: &str = "counter, 2 labels";
const HISTOGRAM: &str = "histogram, 2 labels";
const EXPONENTIAL: &str = "exponential histogram, 2 labels";

pub fn repeat_labelled(work: Labelled) {
    for call in 0..CALLS {
        work::call(work, black_box(call));
    }
}

/// Runs one round; returns the time per call, and start and end.
fn round(run: fn()) -> (f64, Instant, Instant) {
    let start = Instant::now();
    run();
    let end = Instant::now();
    ((end - start).as_nanos() as f64 / CALLS as f64, start, end)
}

pub fn report(quick: bool, report: &mut Report) -> Vec<Chart> {
    let _metering = MetricsGuard::start(MetricsConfig::default()).expect("nothing else meters");
    let (rounds, together) = if quick { (10, 3) } else { (500, 200) };
    let contenders = contenders();
    let (one, two) = (on_one_thread(&contenders, rounds), on_two_threads(&contenders, together));
    let columns = ["what", "ns", "x fetch_add", "2 threads, ns", "x 1 thread"];
    let mut section = Section::new("Time per measurement, medians of interleaved rounds", columns);
    for (this, both) in one.iter().zip(&two) {
        let over = Median::of_ratios(&this.rounds, &one[0].rounds);
        let slower = both.median().value / this.median().value;
        let (alone, together) = (this.median().to_string(), both.median().to_string());
        section.row([this.name.to_owned(), alone, over.to_string(), together, figure(slower)]);
        if let Some((_, limit)) = LIMITS.iter().find(|(name, _)| *name == this.name) {
            let peer = format!("opentelemetry, {}, bound", this.name);
            let of = |all: &[Timed]| value(all, &peer);
            let otel = |ratio: f64| of_peer("otel bound", ratio);
            let base = one[0].median().value;
            report.goal(this.name, over.value, *limit, "x `AtomicU64::fetch_add`", otel(of(&one) / base));
            // If both threads share a core, everything is slower, arithmetic too.
            let machine = value(&two, ARITHMETIC) / value(&one, ARITHMETIC);
            let what = "x one thread, on two, beside arithmetic";
            report.goal(this.name, slower / machine, 1.1, what, otel(of(&two) / of(&one) / machine));
        }
    }
    let allocations = alloc::count(|| OURS.iter().for_each(|(_, run)| run()));
    section.note(
        "Bound instruments and handles that are kept write to one series, and need no labels at the call; all others have \
         theirs made and found at each call.",
    );
    section.note(format!("{allocations} allocations in {CALLS} measurements of each of ours."));
    report.add(section);
    vec![
        chart("Counter, 2 labels, on one thread", COUNTER, &one),
        chart("Counter, 2 labels, on two threads", COUNTER, &two),
        chart("Histogram, 2 labels, on one thread", HISTOGRAM, &one),
        chart("Histogram, 2 labels, on two threads", HISTOGRAM, &two),
    ]
}

fn value(all: &[Timed], name: &str) -> f64 {
    all.iter().find(|timed| timed.name == name).map_or(f64::NAN, |timed| timed.median().value)
}

/// Our metrics beside the minimum and all peers with the same kind.
fn chart(title: &'static str, what: &str, timed: &[Timed]) -> Chart {
    let theirs = format!(", {what}");
    let shown = timed.iter().filter(|timed| [BASE, what].contains(&timed.name) || timed.name.contains(&theirs));
    let bars = shown.map(|timed| {
        let label = match timed.name {
            name if name == what => "tracecast".to_owned(),
            name => name.replace(&theirs, "").replace('`', ""),
        };
        Bar { ours: timed.name == what, value: timed.median().value, label }
    });
    let ours_first = |bar: &Bar| (!bar.ours, bar.label != BASE.replace('`', ""));
    let mut bars: Vec<Bar> = bars.collect();
    bars.sort_by_key(ours_first);
    Chart { title, unit: "ns", bars }
}

/// The limits of the ratio to a `fetch_add`.
const LIMITS: [(&str, f64); 3] = [(COUNTER, 1.5), (HISTOGRAM, 5.0), (EXPONENTIAL, 4.5)];

fn on_one_thread(contenders: &[Contender], rounds: usize) -> Vec<Timed> {
    let mut timed = Timed::of(contenders.iter().map(|(name, _)| *name));
    for _ in 0..rounds {
        for ((_, run), timed) in contenders.iter().zip(&mut timed) {
            // Warms the caches that another contender evicted.
            run();
            timed.rounds.push(round(*run).0);
        }
    }
    timed
}

fn on_two_threads(contenders: &[Contender], rounds: usize) -> Vec<Timed> {
    let round = |at: usize| {
        let (_, start, end) = round(contenders[at].1);
        (start, end)
    };
    let rounds = side_by_side::measure(contenders.len(), rounds, &round, &|_| ());
    let mut timed = Timed::of(contenders.iter().map(|(name, _)| *name));
    for (timed, rounds) in timed.iter_mut().zip(rounds) {
        timed.rounds = rounds.iter().map(|round| round / CALLS as f64).collect();
    }
    timed
}
