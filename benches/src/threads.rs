//! Metrics on many threads: the cost of a measurement for threads that share stripes, and of a collection for the
//! reader.

use std::hint::black_box;
use std::sync::{Barrier, Mutex};
use std::time::Instant;

use tracecast::testing::{MetricsConfig, MetricsGuard, Temporality};

use crate::cpu::Thread;
use crate::report::{Report, Section, figure};
use crate::stats::Median;
use crate::work::{self, Labelled};

/// Measurements between two clock readings of a thread, few enough that it is rarely interrupted.
const CALLS: u64 = 1_000;

const MEASURED: [(&str, Labelled); 3] = [
    ("`fetch_add` on one number, ns", work::fetch_add),
    ("counter with 2 labels, ns", work::counter_two),
    ("histogram with 2 labels, ns", work::histogram_two),
];

pub fn report(quick: bool, report: &mut Report) {
    let metering = MetricsGuard::start(MetricsConfig::default()).expect("nothing else meters");
    let [shared, counter, histogram] = MEASURED.map(|(name, _)| name);
    let columns =
        ["threads at a time", shared, counter, histogram, "of those that share: counter, ns", "one collection, us"];
    let mut section = Section::new("Metrics of many threads, processor time per measurement of each", columns);
    let rounds = if quick { 2 } else { 40 };
    for threads in if quick { &[2, 256][..] } else { &[1, 2, 63, 256, 1_024] } {
        let [shared, counter, histogram] = MEASURED.map(|(_, work)| on_threads(*threads, rounds, work));
        let all = |times: &[Vec<f64>]| figure(Median::of(times.iter().flatten().copied()).value);
        let of_sharing = match counter.get(own_stripes()..) {
            Some(times) if !times.is_empty() => all(times),
            _ => "-".to_owned(),
        };
        let mut reader = metering.reader(Temporality::Cumulative);
        let collections = (0..rounds.max(10)).map(|_| {
            let start = Instant::now();
            black_box(reader.snapshot());
            start.elapsed().as_nanos() as f64 / 1e3
        });
        let collection = figure(Median::of(collections).value);
        section.row([threads.to_string(), all(&shared), all(&counter), all(&histogram), of_sharing, collection]);
    }
    section.note(format!(
        "The first {} threads at a time have a stripe of their own here, all others share {}: four own stripes for each processor, \
         63 at least and 1,023 at most, and half a shared one, 8 at least and 64 at most. A collection reads all metrics of this program \
         in all stripes that were ever used.",
        own_stripes(),
        (processors() / 2).clamp(8, 64),
    ));
    report.add(section);
}

/// The same number as in the runtime.
fn own_stripes() -> usize {
    (processors() * 4).clamp(64, 1_024) - 1
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns each thread's nanoseconds of processor time per measurement, in the order in which they claimed stripes.
fn on_threads(threads: usize, rounds: usize, work: Labelled) -> Vec<Vec<f64>> {
    let (began, all) = (Barrier::new(threads), Mutex::new(Vec::new()));
    let one = || {
        let mut times = Vec::with_capacity(rounds);
        let order = {
            let mut all = all.lock().expect("nobody panics");
            // While the others wait: the first threads get stripes of their own.
            work::call(work, 1);
            all.push(Vec::new());
            all.len() - 1
        };
        began.wait();
        let thread = Thread::current();
        for _ in 0..rounds {
            let before = thread.now();
            (0..CALLS).for_each(|x| work::call(work, black_box(x)));
            times.push((thread.now() - before).as_nanos() as f64 / CALLS as f64);
        }
        all.lock().expect("nobody panics")[order] = times;
    };
    std::thread::scope(|scope| {
        (0..threads).for_each(|_| drop(scope.spawn(one)));
    });
    all.into_inner().expect("nobody panics")
}
