//! Assigns stripes of cells to threads.
//!
//! The first threads have their own stripes. No other thread writes there, so an update is a load and a store, without a
//! locked instruction and without moving a cache line between cores. Further threads share a few stripes, where an update is
//! a read-modify-write. When a thread ends, the next thread takes over its stripe with its counts.

use std::cell::Cell;
use std::sync::atomic::AtomicUsize;

use crate::base::sync::{Acquire, AtomicU64, Relaxed, Release};

/// The stripe of a thread without its own stripe: it has not asked for one yet, or all are taken. This stripe is always empty,
/// so the update takes the slow path, which assigns a stripe or uses a shared one.
const NONE: usize = 0;
/// The number of stripes that belong to one thread each. They begin at 1.
const OWN: usize = 63;
/// The highest stripe + 1. A power of two, so that an index can be masked.
pub(crate) const STRIPES: usize = 1 + OWN;
const _: () = assert!(STRIPES.is_power_of_two());
/// The number of stripes that all further threads share.
pub(crate) const SHARED: usize = 8;

/// The stripe to which a thread writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stripe {
    Own(usize),
    Shared(usize),
}

thread_local! {
    static STRIPE: Cell<usize> = const { Cell::new(NONE) };
    /// The shared stripe + 1 of a thread without its own stripe.
    static SHARES: Cell<usize> = const { Cell::new(0) };
    static EXIT: Exit = const { Exit };
}

/// The calling thread's own stripe, or the empty one. Works until the very end of the thread.
#[inline(always)]
pub(crate) fn own() -> usize {
    STRIPE.with(Cell::get)
}

/// The stripe to which the calling thread writes. Assigns one if it has none.
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
    // Fails if the thread's destructors have run already; then nobody would give the stripe back.
    let exits = EXIT.try_with(|_| ()).is_ok();
    match exits.then(claim).flatten() {
        Some(own) => STRIPE.set(own),
        None => SHARES.set(next_shared()),
    }
}

fn next_shared() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    1 + NEXT.fetch_add(1, Relaxed) % SHARED
}

struct Exit;

impl Drop for Exit {
    fn drop(&mut self) {
        // From now on it shares: it may go on counting, and nobody would take its own stripe back again.
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
    return TAKEN.claim().map(|at| at + 1);
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
pub(super) struct Taken(AtomicU64);

impl Taken {
    #[cfg(not(loom))]
    const fn new() -> Self {
        Taken(AtomicU64::new(0))
    }

    /// Claims the lowest free stripe.
    pub(super) fn claim(&self) -> Option<usize> {
        let mut taken = self.0.load(Relaxed);
        loop {
            let at = taken.trailing_ones() as usize;
            if at >= OWN {
                return None;
            }
            // Acquire: what the thread that had it before stored there is seen, and gone on from.
            match self.0.compare_exchange_weak(taken, taken | 1 << at, Acquire, Relaxed) {
                Ok(_) => return Some(at),
                Err(now) => taken = now,
            }
        }
    }

    /// Releases a stripe.
    pub(super) fn release(&self, at: usize) {
        self.0.fetch_and(!(1 << at), Release);
    }

    #[cfg(not(loom))]
    fn forget(&self) {
        self.0.store(0, Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_first_threads_have_a_stripe_each_and_leave_it_behind() {
        let taken = Taken::new();
        let all: Vec<_> = (0..OWN + 1).map(|_| taken.claim()).collect();
        assert_eq!(all, (0..OWN).map(Some).chain([None]).collect::<Vec<_>>());
        taken.release(7);
        assert_eq!([taken.claim(), taken.claim()], [Some(7), None]);
    }

    #[test]
    fn further_threads_share() {
        let mut stripes: Vec<_> = (0..SHARED).map(|_| next_shared()).collect();
        stripes.sort_unstable();
        assert_eq!(stripes, (1..=SHARED).collect::<Vec<_>>());
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;

    /// Two threads that count in a stripe one after the other, with loads and stores alone, lose nothing.
    #[test]
    fn a_stripe_is_handed_over_with_what_was_counted() {
        loom::model(|| {
            let taken = Arc::new(Taken(AtomicU64::new(0)));
            let cells = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
            let count = |taken: &Taken, cells: &[AtomicU64; 2]| {
                let at = taken.claim().expect("there are more stripes than threads");
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
