//! Runs the same work on two threads at the same time.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// A round counts if both threads ran at the same time for at least this share of it.
const SHARE: f64 = 0.9;

/// Runs a round, and returns its start and end.
pub type Round<'a> = &'a (dyn Fn(usize) -> (Instant, Instant) + Sync);

/// Returns the nanoseconds of the slower thread, for each contender (by number) and round; NaN for a round that does
/// not count. Each round runs twice and is timed once: the first run warms the caches that another contender evicted.
/// Between two rounds one thread cleans up.
pub fn measure(contenders: usize, rounds: usize, round: Round<'_>, settle: &(dyn Fn(usize) + Sync)) -> Vec<Vec<f64>> {
    let arrived = AtomicUsize::new(0);
    let run_all = |settles: bool| {
        let mut all = Vec::new();
        for at in (0..rounds).flat_map(|_| 0..contenders) {
            round(at);
            meet(&arrived);
            all.push(round(at));
            // Not while the other thread may still be in its round.
            meet(&arrived);
            if settles {
                settle(at);
            }
        }
        all
    };
    let (mine, theirs) = std::thread::scope(|scope| {
        let other = scope.spawn(|| run_all(false));
        (run_all(true), other.join().expect("the other thread ends"))
    });
    let mut timed = vec![Vec::new(); contenders];
    for (at, (mine, theirs)) in mine.into_iter().zip(theirs).enumerate() {
        timed[at % contenders].push(slower(mine, theirs));
    }
    timed
}

fn slower(mine: (Instant, Instant), theirs: (Instant, Instant)) -> f64 {
    let together = mine.1.min(theirs.1).saturating_duration_since(mine.0.max(theirs.0)).as_secs_f64();
    let apart = (mine.1.max(theirs.1) - mine.0.min(theirs.0)).as_secs_f64();
    if together < SHARE * apart {
        return f64::NAN;
    }
    (mine.1 - mine.0).max(theirs.1 - theirs.0).as_nanos() as f64
}

/// Spins until the other thread arrives: waking up from sleep takes longer than a round.
fn meet(arrived: &AtomicUsize) {
    let ticket = arrived.fetch_add(1, Relaxed);
    // Tickets 0 and 1 meet, then 2 and 3, and so on.
    let complete = ticket / 2 * 2 + 2;
    let mut turns = 0_u32;
    while arrived.load(Relaxed) < complete {
        turns += 1;
        if turns.is_multiple_of(4_096) {
            // On a busy machine the other thread may need this processor.
            std::thread::yield_now();
        }
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_slower_thread_counts_if_both_ran_together() {
        let start = Instant::now();
        let at = |from: u64, to: u64| (start + Duration::from_nanos(from), start + Duration::from_nanos(to));
        assert_eq!(slower(at(0, 100), at(2, 99)), 100.0);
        assert!(slower(at(0, 100), at(50, 150)).is_nan());
    }
}
