//! The account: counts spans, metric points and log records by their state.
//!
//! An item that was passed to a route is in exactly one [`State`], and an [`Account`] counts the items in each. A
//! change of state moves items from one count to another under one lock. So no count falls below zero, and the counts
//! always add up to the items passed to the route, also while items are in transit.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::self_metrics::{REASONS, Reason};

/// The state of an item. `Exported`, `Unconfirmed` and `Dropped` are final. An item is first `Pending`, except where
/// its fate is known at once: the console exports it, or a custom exporter has no room for it.
///
/// ```text
///  Pending ──> Exported, Unconfirmed, Dropped(ExportQueueFull, Refused, Rejected)
///     │
///     └──> Spooled ──> Exported, Unconfirmed, Dropped(Refused, Rejected, Spool, LostOnDisk)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// In memory: queued, in flight, or being written to disk.
    Pending,
    /// On disk, including while the request is sent from disk.
    Spooled,
    /// Accepted by the receiver.
    Exported,
    /// Answered with a success that is not an OTLP response, so it is unknown whether a backend has the item.
    Unconfirmed,
    /// Lost, for this reason.
    Dropped(Reason),
}

/// The number of items in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) pending: u64,
    pub(crate) spooled: u64,
    pub(crate) exported: u64,
    pub(crate) unconfirmed: u64,
    /// The number of lost items, indexed by [`Reason`] `as usize`.
    pub(crate) dropped: [u64; REASONS.len()],
    /// Items that another process, usually an earlier one, stored on disk, and that the receiver accepted from this
    /// process. No other count includes these items.
    pub(crate) replayed: u64,
}

impl Counts {
    /// Adds items to a state.
    pub(crate) fn add(&mut self, items: u64, state: State) {
        *self.of(state) += items;
    }

    /// The number of lost items, for any reason.
    pub(crate) fn lost(&self) -> u64 {
        self.dropped.iter().sum()
    }

    /// True if no item can change its state any more.
    pub(crate) fn is_final(&self) -> bool {
        self.pending == 0 && self.spooled == 0
    }

    fn of(&mut self, state: State) -> &mut u64 {
        match state {
            State::Pending => &mut self.pending,
            State::Spooled => &mut self.spooled,
            State::Exported => &mut self.exported,
            State::Unconfirmed => &mut self.unconfirmed,
            State::Dropped(reason) => &mut self.dropped[reason as usize],
        }
    }
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.pending += other.pending;
        self.spooled += other.spooled;
        self.exported += other.exported;
        self.unconfirmed += other.unconfirmed;
        self.dropped.iter_mut().zip(other.dropped).for_each(|(sum, more)| *sum += more);
        self.replayed += other.replayed;
    }
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Counts>>(all: I) -> Counts {
        all.fold(Counts::default(), |mut sum, counts| {
            sum += counts;
            sum
        })
    }
}

/// The states of the items of one route. A file in the spool keeps the account of the route that wrote it, so sending
/// or removing the file changes the same counts. The lock is held only to change or copy counts.
#[derive(Debug, Default)]
pub(crate) struct Account(Mutex<Counts>);

impl Account {
    /// Adds new items in this state.
    pub(crate) fn add(&self, items: u64, state: State) {
        self.lock().add(items, state);
    }

    /// Moves items from one state to another.
    pub(crate) fn pass(&self, items: u64, from: State, to: State) {
        let mut counts = self.lock();
        *counts.of(from) -= items;
        counts.add(items, to);
    }

    /// Moves items from one state to final states: to each as many as `to` counts there.
    pub(crate) fn settle(&self, from: State, to: &Counts) {
        let mut counts = self.lock();
        *counts.of(from) -= to.exported + to.unconfirmed + to.lost();
        *counts += *to;
    }

    /// Counts items that another process stored on disk, and that the receiver accepted from this process.
    pub(crate) fn add_replayed(&self, items: u64) {
        self.lock().replayed += items;
    }

    pub(crate) fn counts(&self) -> Counts {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_in_one_state() {
        let account = Account::default();
        account.add(10, State::Pending);
        account.pass(6, State::Pending, State::Spooled);
        account.pass(1, State::Pending, State::Dropped(Reason::ExportQueueFull));
        let mut answered = Counts::default();
        answered.add(3, State::Exported);
        answered.add(1, State::Dropped(Reason::Rejected));
        account.settle(State::Spooled, &answered);
        let counts = account.counts();
        assert_eq!((counts.pending, counts.spooled, counts.exported, counts.lost()), (3, 2, 3, 2));
        assert!(!counts.is_final());
    }

    #[test]
    fn a_reader_never_sees_an_item_twice_or_not_at_all() {
        let account = Account::default();
        account.add(100, State::Pending);
        std::thread::scope(|scope| {
            scope.spawn(|| (0..100).for_each(|_| account.pass(1, State::Pending, State::Spooled)));
            scope.spawn(|| {
                while account.counts().pending > 0 {
                    let counts = account.counts();
                    assert_eq!(counts.pending + counts.spooled, 100);
                }
            });
        });
        assert_eq!(account.counts().spooled, 100);
    }
}
