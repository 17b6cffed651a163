//! Assigns stripes of cells to threads.
//!
//! The first threads have their own stripes. No other thread writes there, so an update is a load and a store, without a
//! locked instruction and without moving a cache line between cores. Further threads share a few stripes, where an update is
//! a read-modify-write. When a thread ends, the next thread takes over its stripe with its counts.
//!
//! The number of both kinds of stripes grows with the number of processors, within bounds: a server with many cores
//! runs many threads at a time, which would contend for a few shared stripes.

use std::cell::Cell;
use std::sync::atomic::AtomicUsize;

use crate::base::sync::{Acquire, AtomicU64, Relaxed, Release};

/// The stripe of a thread without its own stripe, because none was assigned yet or all are taken. This stripe is always
/// empty, so the update takes the slow path, which assigns a stripe or uses a shared one.
const NONE: usize = 0;

/// The number of stripes of each metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// The highest stripe that belongs to one thread, + 1. The lowest is 1.
    pub(crate) own: usize,
    /// The number of stripes that all further threads share.
    pub(crate) shared: usize,
}

impl Counts {
    /// The counts for up to 16 processors.
    pub(crate) const LEAST: Counts = Counts { own: 64, shared: 8 };
    /// The counts for 256 processors or more.
    pub(crate) const MOST: Counts = Counts { own: 1_024, shared: 64 };

    /// Returns the counts for a number of processors: four own stripes per processor, and one shared stripe for two
    /// processors.
    fn of(processors: usize) -> Self {
        Counts {
            own: processors.saturating_mul(4).clamp(Self::LEAST.own, Self::MOST.own),
            shared: (processors / 2).clamp(Self::LEAST.shared, Self::MOST.shared),
        }
    }

    /// Returns the counts for this machine, which are the same for the whole life of the process.
    pub(crate) fn get() -> Self {
        // An atomic and no lock: in a forked child the thread that holds the lock may not exist.
        static PROCESSORS: AtomicUsize = AtomicUsize::new(0);
        let mut processors = PROCESSORS.load(Relaxed);
        if processors == 0 {
            processors = std::thread::available_parallelism().map_or(1, usize::from);
            // The affinity may change between the calls of two threads: both use the number that was stored first.
            if let Err(first) = PROCESSORS.compare_exchange(0, processors, Relaxed, Relaxed) {
                processors = first;
            }
        }
        Counts::of(processors)
    }
}

/// The stripe to which a thread writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stripe {
    Own(usize),
    Shared(usize),
}

thread_local! {
    static STRIPE: Cell<usize> = const { Cell::new(NONE) };
    /// The shared stripe + 1 of a thread without its own stripe; 0 if none is assigned.
    static SHARES: Cell<usize> = const { Cell::new(0) };
    static EXIT: Exit = const { Exit };
}

/// Returns the calling thread's own stripe, or `NONE`: always below `Counts::get().own`. Can be called until the thread has
/// ended, also by its destructors.
#[inline(always)]
pub(crate) fn own() -> usize {
    STRIPE.with(Cell::get)
}

/// Returns the stripe to which the calling thread writes. Assigns one if it has none.
#[cold]
pub(crate) fn mine() -> Stripe {
    if own() == NONE && SHARES.get() == 0 {
        assign();
    }
    match own() {
        NONE => Stripe::Shared(SHARES.get() - 1),
        own => Stripe::Own(own),
    }
}

fn assign() {
    // This fails if the thread's destructors have already run. An own stripe would then never be released.
    let exits = EXIT.try_with(|_| ()).is_ok();
    match exits.then(claim).flatten() {
        Some(own) => STRIPE.set(own),
        None => SHARES.set(next_shared()),
    }
}

fn next_shared() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    1 + NEXT.fetch_add(1, Relaxed) % Counts::get().shared
}

struct Exit;

impl Drop for Exit {
    fn drop(&mut self) {
        // Later destructors of the thread use a shared stripe, because a new own stripe would never be released.
        SHARES.set(next_shared());
        let own = STRIPE.replace(NONE);
        if own != NONE {
            release(own);
        }
    }
}

#[cfg(not(loom))]
static TAKEN: Taken = Taken::new();

fn claim() -> Option<usize> {
    #[cfg(not(loom))]
    return TAKEN.claim(Counts::get().own - 1).map(|at| at + 1);
    #[cfg(loom)]
    return None;
}

fn release(_stripe: usize) {
    #[cfg(not(loom))]
    TAKEN.release(_stripe - 1);
}

/// Resets the stripes in a forked child, on its only thread: the other threads do not exist there.
pub(crate) fn forget() {
    STRIPE.set(NONE);
    SHARES.set(0);
    #[cfg(not(loom))]
    TAKEN.forget();
}

/// The stripes that threads own, one bit for each.
struct Taken([AtomicU64; WORDS]);

const BITS: usize = u64::BITS as usize;
const WORDS: usize = Counts::MOST.own.div_ceil(BITS);

impl Taken {
    #[cfg(not(loom))]
    const fn new() -> Self {
        Taken([const { AtomicU64::new(0) }; WORDS])
    }

    /// Claims the lowest free stripe below `limit`. Returns `None` if all are taken.
    fn claim(&self, limit: usize) -> Option<usize> {
        self.0.iter().enumerate().find_map(|(word, taken)| claim_bit(taken, limit.saturating_sub(word * BITS), word))
    }

    /// Releases a stripe.
    fn release(&self, at: usize) {
        self.0[at / BITS].fetch_and(!(1 << (at % BITS)), Release);
    }

    #[cfg(not(loom))]
    fn forget(&self) {
        self.0.iter().for_each(|taken| taken.store(0, Relaxed));
    }
}

/// Claims the lowest free bit below `limit` of the word with this number. Returns its position among the bits of all words, or
/// `None` if all are taken.
fn claim_bit(word: &AtomicU64, limit: usize, number: usize) -> Option<usize> {
    let mut taken = word.load(Relaxed);
    loop {
        let at = taken.trailing_ones() as usize;
        if at >= limit.min(BITS) {
            return None;
        }
        // Acquire: the new owner sees the counts of the previous one and adds to them.
        match word.compare_exchange_weak(taken, taken | 1 << at, Acquire, Relaxed) {
            Ok(_) => return Some(number * BITS + at),
            Err(now) => taken = now,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_first_threads_have_a_stripe_each_and_leave_it_behind() {
        for limit in [63, 64, 150, Counts::MOST.own - 1] {
            let taken = Taken::new();
            let all: Vec<_> = (0..limit + 1).map(|_| taken.claim(limit)).collect();
            assert_eq!(all, (0..limit).map(Some).chain([None]).collect::<Vec<_>>());
            taken.release(limit - 1);
            taken.release(7);
            let again = [0; 3].map(|_| taken.claim(limit));
            assert_eq!(again, [Some(7), Some(limit - 1), None]);
            taken.forget();
            assert_eq!(taken.claim(limit), Some(0));
        }
    }

    #[test]
    fn there_are_as_many_as_the_machine_needs() {
        let counts = |own, shared| Counts { own, shared };
        assert_eq!([1, 2, 16].map(Counts::of), [counts(64, 8); 3]);
        assert_eq!(Counts::of(17), counts(68, 8));
        assert_eq!(Counts::of(96), counts(384, 48));
        assert_eq!([256, 1_024, usize::MAX].map(Counts::of), [counts(1_024, 64); 3]);
    }

    #[test]
    fn further_threads_share() {
        let shared = Counts::get().shared;
        let mut stripes: Vec<_> = (0..shared).map(|_| next_shared()).collect();
        stripes.sort_unstable();
        assert_eq!(stripes, (1..=shared).collect::<Vec<_>>());
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;

    /// Two threads that use the same stripe one after the other, with plain loads and stores, lose no counts.
    #[test]
    fn a_stripe_is_handed_over_with_what_was_counted() {
        loom::model(|| {
            let taken = Arc::new(Taken(std::array::from_fn(|_| AtomicU64::new(0))));
            let cells = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
            let count = |taken: &Taken, cells: &[AtomicU64; 2]| {
                let at = taken.claim(2).expect("there are more stripes than threads");
                cells[at].store(cells[at].load(Relaxed) + 1, Relaxed);
                taken.release(at);
            };
            let (their_taken, their_cells) = (taken.clone(), cells.clone());
            let thread = loom::thread::spawn(move || count(&their_taken, &their_cells));
            count(&taken, &cells);
            thread.join().unwrap();
            assert_eq!(cells[0].load(Relaxed) + cells[1].load(Relaxed), 2);
        });
    }
}
