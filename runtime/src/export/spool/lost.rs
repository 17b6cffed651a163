//! What was lost on disk, by cause and by who had written it.

use std::iter::FromIterator;
use std::ops::AddAssign;

use super::Signal;

/// A number of spans and one of log records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Items {
    pub(crate) traces: u64,
    pub(crate) logs: u64,
}

impl Items {
    pub(super) fn add(&mut self, signal: Signal, items: u64) {
        let sum = match signal {
            Signal::Traces => &mut self.traces,
            Signal::Logs => &mut self.logs,
        };
        // A name may say anything.
        *sum = sum.saturating_add(items);
    }
}

impl FromIterator<(Signal, u64)> for Items {
    fn from_iter<I: IntoIterator<Item = (Signal, u64)>>(all: I) -> Self {
        let mut sum = Items::default();
        all.into_iter().for_each(|(signal, items)| sum.add(signal, items));
        sum
    }
}

impl AddAssign for Items {
    fn add_assign(&mut self, other: Items) {
        self.add(Signal::Traces, other.traces);
        self.add(Signal::Logs, other.logs);
    }
}

/// Items that this spool had put on disk, and items of other processes, earlier ones too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) ours: Items,
    pub(crate) others: Items,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.ours += other.ours;
        self.others += other.others;
    }
}

/// What one spool removed. Each loss is counted by one process only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lost {
    /// There was no room for them any more.
    pub(crate) evicted: Tally,
    /// They were too old.
    pub(crate) expired: Tally,
    /// Their file was damaged: as many as its name says.
    pub(crate) damaged: Tally,
    /// Their file is gone, and this spool did not remove it. Of this spool's items only.
    pub(crate) missing: Items,
    /// Files that could not be read. They lie beside the others for a while.
    pub(crate) set_aside: u64,
}

impl AddAssign for Lost {
    fn add_assign(&mut self, other: Lost) {
        self.evicted += other.evicted;
        self.expired += other.expired;
        self.damaged += other.damaged;
        self.missing += other.missing;
        self.set_aside += other.set_aside;
    }
}
