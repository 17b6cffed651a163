//! Metrics beside one `fetch_add`, on one thread and on two at the same time.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use tracecast::{Metering, MeteringConfig};

use crate::work::{self, Labelled};
use crate::{alloc, time};

/// Calls in a round.
const CALLS: u64 = 5_000;
/// A round on two threads counts if they ran side by side for at least this share of it.
const SIDE_BY_SIDE: f64 = 0.9;

type Contender = (&'static str, fn());

const CONTENDERS: &[Contender] = &[
    (BASE, || repeat_labelled(work::fetch_add)),
    ("`fetch_add` on a number per thread", || repeat_labelled(work::fetch_add_own)),
    ("arithmetic without memory", || repeat_labelled(work::arithmetic)),
    ("counter, no labels", || repeat_labelled(work::counter_plain)),
    (COUNTER, || repeat_labelled(work::counter_two)),
    ("counter of f64, 2 labels", || repeat_labelled(work::counter_f64_two)),
    ("up-down counter, 2 labels", || repeat_labelled(work::up_down_two)),
    ("gauge, 2 labels", || repeat_labelled(work::gauge_two)),
    (HISTOGRAM, || repeat_labelled(work::histogram_two)),
    ("exponential histogram, 2 labels", || repeat_labelled(work::exponential_two)),
    ("two readings of the clock", || repeat_labelled(work::clocks)),
    ("`tc_metric`: calls, duration, in flight, 2 labels", || repeat_labelled(work::metric_two)),
];

const BASE: &str = "`AtomicU64::fetch_add`";
const COUNTER: &str = "counter, 2 labels";
const HISTOGRAM: &str = "histogram, 2 labels";

fn repeat_labelled(work: Labelled) {
    for call in 0..CALLS {
        work::call(work, black_box(call));
    }
}

/// One round: per call, and from when to when.
fn round(run: fn()) -> (f64, Instant, Instant) {
    let start = Instant::now();
    run();
    let end = Instant::now();
    ((end - start).as_nanos() as f64 / CALLS as f64, start, end)
}

pub fn print(quick: bool) {
    let _metering = Metering::start(MeteringConfig::default()).expect("nothing else meters");
    let rounds = if quick { 20 } else { 1_000 };
    let (one, two) = (on_one_thread(rounds), on_two_threads(rounds));
    let base = one[0].best();
    println!("## Time per measurement, best of interleaved rounds\n");
    println!("| what | ns | median | x fetch_add | 2 threads | median | x 1 thread | target |");
    println!("|---|---|---|---|---|---|---|---|");
    for (one, two) in one.iter().zip(&two) {
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            one.name,
            time::figure(one.best()),
            time::figure(one.median()),
            time::figure(one.best() / base),
            time::figure(two.best()),
            time::figure(two.median()),
            time::figure(two.best() / one.best()),
            target(one.name)
        );
    }
    let allocations = alloc::count(|| CONTENDERS.iter().for_each(|(_, run)| run()));
    println!("\n{allocations} allocations in {CALLS} measurements of each.\n");
}

fn target(name: &str) -> &'static str {
    match name {
        COUNTER => "<= 1.5 x fetch_add, <= 1.3 x 1 thread",
        HISTOGRAM => "<= 5 x fetch_add, <= 1.3 x 1 thread",
        _ => "",
    }
}

fn on_one_thread(rounds: usize) -> Vec<time::Timed> {
    let mut timed = time::Timed::of(CONTENDERS.iter().map(|(name, _)| *name));
    for _ in 0..rounds {
        for ((_, run), timed) in CONTENDERS.iter().zip(&mut timed) {
            timed.rounds.push(round(*run).0);
        }
    }
    timed
}

/// Waits for the other of two threads without going to sleep: waking up takes longer than a round.
fn meet(arrived: &AtomicUsize) {
    let ticket = arrived.fetch_add(1, Relaxed);
    // Tickets 0 and 1 meet, then 2 and 3, and so on.
    let complete = ticket / 2 * 2 + 2;
    while arrived.load(Relaxed) < complete {
        std::hint::spin_loop();
    }
}

fn on_two_threads(rounds: usize) -> Vec<time::Timed> {
    let arrived = AtomicUsize::new(0);
    let run_all = || {
        let rounds = (0..rounds).map(|_| {
            let one = |(_, run): &Contender| {
                meet(&arrived);
                round(*run)
            };
            CONTENDERS.iter().map(one).collect::<Vec<_>>()
        });
        rounds.collect::<Vec<_>>()
    };
    let (mine, theirs) = std::thread::scope(|scope| {
        let other = scope.spawn(run_all);
        (run_all(), other.join().expect("the other thread ends"))
    });
    let mut timed = time::Timed::of(CONTENDERS.iter().map(|(name, _)| *name));
    for (mine, theirs) in mine.iter().zip(&theirs) {
        for (at, (mine, theirs)) in mine.iter().zip(theirs).enumerate() {
            let together = mine.2.min(theirs.2).saturating_duration_since(mine.1.max(theirs.1)).as_secs_f64();
            let apart = (mine.2.max(theirs.2) - mine.1.min(theirs.1)).as_secs_f64();
            if together >= SIDE_BY_SIDE * apart {
                timed[at].rounds.push(mine.0.max(theirs.0));
            }
        }
    }
    timed
}
