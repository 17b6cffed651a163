//! One to eight threads that record at the same time. There may be fewer processors, so only the time in which a thread
//! ran counts.

use std::hint::black_box;
use std::sync::Barrier;

use tracecast::testing::{MetricsConfig, MetricsGuard, Recording, RecordingConfig};

use crate::cpu::Thread;
use crate::peers;
use crate::report::{Report, Section, figure};
use crate::stats::Median;
use crate::work::{self, Labelled};

/// Operations between two clock readings of a thread.
const SPANS: u64 = 200;
const MEASUREMENTS: u64 = 2_000;
/// Rounds of all threads together between two drains: their spans fit into the recorder, and they last long enough that
/// threads which woke up later overlap.
const BETWEEN_DRAINS: usize = 640;

pub fn report(quick: bool, report: &mut Report) {
    let _metering = MetricsGuard::start(MetricsConfig::default()).expect("nothing else meters");
    let recording = Recording::start(RecordingConfig::default()).expect("nothing else records");
    let rounds = if quick { 50 } else { 4_000 };
    let columns = [
        "threads",
        "`fetch_add` on one number, ns",
        "counter with 2 labels, ns",
        "histogram with 2 labels, ns",
        "recorded span, ns",
    ];
    let mut section = Section::new("Growth: threads, processor time per operation of each", columns);
    for threads in if quick { 1..=2 } else { 1..=8 } {
        let measured = |work: Labelled| figure(on_threads(threads, rounds, MEASUREMENTS, &|x| work::call(work, x)));
        let spans = on_threads(threads, rounds, SPANS, &|x| {
            black_box(work::span(x));
        });
        let (shared, counter, histogram) =
            (measured(work::fetch_add), measured(work::counter_two), measured(work::histogram_two));
        section.row([threads.to_string(), shared, counter, histogram, figure(spans)]);
    }
    let dropped = recording.accounting().dropped;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    section.note(format!(
        "{} spans were dropped. There are {processors} processors: no more threads than that ran at once. The shared number is \
         the control: if it does not get slower with the second thread, they did not run side by side, and the other columns \
         say nothing.",
        dropped.span_buffer_full + dropped.too_many_open_spans + dropped.thread_exit
    ));
    report.add(section);
}

/// Returns the nanoseconds of processor time per operation: the median of all rounds of all threads.
fn on_threads(threads: usize, rounds: usize, times: u64, run: &(dyn Fn(u64) + Sync)) -> f64 {
    let barrier = Barrier::new(threads);
    let one = || {
        let thread = Thread::current();
        let mut rounds_taken = Vec::new();
        for round in 0..rounds {
            if round % (BETWEEN_DRAINS / threads) == 0 {
                drain(&barrier);
            }
            let before = thread.now();
            work::root(|| (0..times).for_each(|x| run(black_box(x))));
            rounds_taken.push((thread.now() - before).as_nanos() as f64 / times as f64);
        }
        rounds_taken
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        Median::of(all.into_iter().flat_map(|thread| thread.join().expect("it ends"))).value
    })
}

/// One thread drains while the others wait: dropped spans have another cost.
fn drain(barrier: &Barrier) {
    if barrier.wait().is_leader() {
        peers::tracecast::drain(Vec::new());
    }
    barrier.wait();
}
