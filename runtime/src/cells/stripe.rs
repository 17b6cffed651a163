//! Which stripe of every metric's cells a thread writes.
//!
//! The first threads have stripes of their own: nobody else writes there, so an update is a load and a store, without
//! a locked instruction and without a cache line that moves between cores. Threads beyond those share a few stripes,
//! and there an update is a read-modify-write. A thread that ends leaves its stripe, with what it counted, to the next.

use std::cell::Cell;
use std::sync::atomic::AtomicUsize;

use crate::sync::{Acquire, AtomicU64, Relaxed, Release};

/// Stripes that one thread has to itself.
pub(crate) const OWN: usize = 55;
/// Stripes that all further threads share.
const SHARED: usize = 8;
/// The stripe of a thread that has none yet. Nothing is ever there, which leads to where it gets one.
pub(crate) const NONE: usize = 0;
/// One more than the highest stripe: a power of two, so that a place is found by masking.
pub(crate) const STRIPES: usize = 1 + OWN + SHARED;
const _: () = assert!(STRIPES.is_power_of_two());

thread_local! {
    static STRIPE: Cell<usize> = const { Cell::new(NONE) };
    static EXIT: Exit = const { Exit };
}

/// The calling thread's stripe. Works until the thread's very end.
#[inline(always)]
pub(crate) fn mine() -> usize {
    STRIPE.with(Cell::get)
}

/// Whether a stripe belongs to one thread alone.
#[inline(always)]
pub(crate) fn is_own(stripe: usize) -> bool {
    stripe <= OWN
}

/// The calling thread's stripe, which it is given if it has none.
#[inline]
pub(crate) fn mine_or_assigned() -> usize {
    match mine() {
        NONE => assign(),
        mine => mine,
    }
}

#[cold]
fn assign() -> usize {
    STRIPE.with(|stripe| {
        if stripe.get() == NONE {
            // Fails if the thread's destructors have run already; then nobody would give the stripe back.
            let exits = EXIT.try_with(|_| ()).is_ok();
            stripe.set(exits.then(claim).flatten().unwrap_or_else(shared));
        }
        stripe.get()
    })
}

fn shared() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    1 + OWN + NEXT.fetch_add(1, Relaxed) % SHARED
}

struct Exit;

impl Drop for Exit {
    fn drop(&mut self) {
        STRIPE.with(|stripe| {
            let own = stripe.replace(shared());
            if own != NONE && is_own(own) {
                release(own);
            }
        });
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

/// For a forked child, on its one thread: the threads that held the other stripes do not exist.
pub(crate) fn forget() {
    STRIPE.with(|stripe| stripe.set(NONE));
    #[cfg(not(loom))]
    TAKEN.forget();
}

/// Which of the own stripes are taken: a bit for each.
pub(super) struct Taken(AtomicU64);

impl Taken {
    #[cfg(not(loom))]
    const fn new() -> Self {
        Taken(AtomicU64::new(0))
    }

    /// The lowest stripe that is free.
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

    /// Gives a stripe to whoever comes next.
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
        let stripes: Vec<_> = (0..2 * SHARED).map(|_| shared()).collect();
        assert!(stripes.iter().all(|stripe| !is_own(*stripe) && *stripe < STRIPES), "{stripes:?}");
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
