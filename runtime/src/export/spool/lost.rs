//! Counts losses on disk, by cause and by the process that wrote the file.

use std::iter::FromIterator;
use std::ops::AddAssign;
use std::time::{Duration, Instant};

use super::Spooled;

/// The minimum time between two reports of losses.
const REPORT_EVERY: Duration = Duration::from_secs(60);

/// A number of spans and a number of log records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Items {
    pub(crate) traces: u64,
    pub(crate) logs: u64,
}

impl Items {
    pub(super) fn add(&mut self, signal: Spooled, items: u64) {
        let sum = match signal {
            Spooled::Traces => &mut self.traces,
            Spooled::Logs => &mut self.logs,
        };
        // The number comes from a file name, so it may be anything.
        *sum = sum.saturating_add(items);
    }
}

impl FromIterator<(Spooled, u64)> for Items {
    fn from_iter<I: IntoIterator<Item = (Spooled, u64)>>(all: I) -> Self {
        let mut sum = Items::default();
        all.into_iter().for_each(|(signal, items)| sum.add(signal, items));
        sum
    }
}

impl AddAssign for Items {
    fn add_assign(&mut self, other: Items) {
        self.add(Spooled::Traces, other.traces);
        self.add(Spooled::Logs, other.logs);
    }
}

/// Items that this spool had stored, and items that other processes had stored, including earlier ones.
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

/// The losses counted by one spool. Each loss is counted by one process only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lost {
    /// Removed to make room.
    pub(crate) evicted: Tally,
    /// Removed because of their age.
    pub(crate) expired: Tally,
    /// In damaged files; their number is taken from the file's name.
    pub(crate) damaged: Tally,
    /// In files of this spool that are gone, and that this spool did not remove.
    pub(crate) missing: Items,
    /// The number of unreadable files, which were renamed.
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

/// All losses of one spool.
#[derive(Debug, Default)]
pub(super) struct Losses {
    pub(super) all: Lost,
    reported: Option<Instant>,
}

impl Losses {
    /// Adds a loss. Returns the line to report, at most once a minute: only about items of other processes and
    /// unreadable files, because the account of this process counts its own items.
    pub(super) fn add(&mut self, lost: &Lost, now: Instant) -> Option<String> {
        self.all += *lost;
        let is_news = lost.set_aside > 0 || lost.by_cause().iter().any(|(_, items)| *items != Items::default());
        if !is_news || self.reported.is_some_and(|at| now.saturating_duration_since(at) < REPORT_EVERY) {
            return None;
        }
        self.reported = Some(now);
        Some(self.all.line())
    }
}

impl Lost {
    /// Lists the lost items of other processes, by cause.
    fn by_cause(&self) -> [(&'static str, Items); 3] {
        [("evicted", self.evicted.others), ("expired", self.expired.others), ("damaged", self.damaged.others)]
    }

    fn line(&self) -> String {
        let item = |(cause, items): (&str, Items)| {
            let counts = [(items.traces, "spans"), (items.logs, "log records")].into_iter();
            counts.filter(|(count, _)| *count > 0).map(move |(count, what)| format!("{count} {what} {cause}")).collect()
        };
        let mut parts: Vec<String> = self.by_cause().into_iter().flat_map::<Vec<_>, _>(item).collect();
        if self.set_aside > 0 {
            parts.push(format!("{} unreadable files renamed to *.bad", self.set_aside));
        }
        format!("the spool has lost data that this process did not write: {}", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_of_other_processes_are_reported_once_a_minute() {
        let (mut losses, start) = (Losses::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let items = Items { traces: 2, logs: 1 };
        let ours = Lost { evicted: Tally { ours: items, ..Tally::default() }, missing: items, ..Lost::default() };
        assert_eq!(losses.add(&ours, at(0)), None, "the account has them");
        let others = Lost { expired: Tally { others: items, ..Tally::default() }, ..Lost::default() };
        let head = "the spool has lost data that this process did not write";
        assert_eq!(losses.add(&others, at(0)), Some(format!("{head}: 2 spans expired, 1 log records expired")));
        let unreadable = Lost { set_aside: 1, ..Lost::default() };
        assert_eq!(losses.add(&unreadable, at(59)), None);
        let all = format!("{head}: 4 spans expired, 2 log records expired, 1 unreadable files renamed to *.bad");
        assert_eq!(losses.add(&others, at(60)), Some(all));
        assert_eq!(losses.add(&Lost::default(), at(120)), None, "nothing is new");
    }
}
