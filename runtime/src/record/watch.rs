//! The watchdog's scan of all threads for polls that last too long.
//!
//! The scan reads the threads' published state, never a block.

use std::ptr;

use crate::declare::callsite::Callsite;
use crate::record::clock;
use crate::record::published::Fate;
use crate::record::recorder;
use crate::record::threads::ThreadCounts;

/// The pause in seconds up to which a scan is never late, even if the threshold is shorter.
const SHORTEST_PAUSE: f64 = 0.02;

/// Detects polls that last too long.
pub(crate) struct Watch {
    threshold: f64,
    /// The clock reading of the last scan.
    last: Option<u64>,
    reported: Vec<Reported>,
}

/// A reported poll that has not ended yet.
struct Reported {
    thread: &'static ThreadCounts,
    since: u64,
    /// The clock reading when the poll was reported.
    at: u64,
}

/// A finding of a scan.
pub(crate) enum Seen {
    /// A poll has lasted for this many seconds so far. The callsite is that of the thread's innermost span, if there is one.
    Stalls(Option<&'static Callsite>, f64),
    /// A reported poll ended after this many seconds.
    Ended(f64),
}

impl Watch {
    /// Creates the scanner; `threshold` is in seconds.
    pub(crate) fn new(threshold: f64) -> Self {
        Watch { threshold, last: None, reported: Vec::new() }
    }

    /// Returns true if this is the first scan, or if so much time passed since the previous one that the duration of polls is
    /// unknown.
    fn is_late(&mut self, now: u64) -> bool {
        // A scan every few milliseconds is never exactly on time.
        let limit = self.threshold.max(SHORTEST_PAUSE);
        self.last.replace(now).is_none_or(|last| clock::seconds(last, now) > limit)
    }

    /// Scans all threads. Call it several times per threshold: after a longer pause the process may have been stopped or starved,
    /// so polls look longer than they were, and none is reported.
    pub(crate) fn look(&mut self, mut visit: impl FnMut(Seen)) {
        let is_late = self.is_late(clock::now());
        self.reported.retain(|Reported { thread, since, at }| {
            let end = match thread.published.fate(*since) {
                Fate::Lasts => return true,
                Fate::Ended(end) => end,
                Fate::Unseen => *at,
            };
            visit(Seen::Ended(clock::seconds(*since, end)));
            false
        });
        let Some(recorder) = recorder::get().filter(|_| !is_late) else { return };
        for thread in recorder.threads.iter() {
            let Some(since) = thread.published.since() else { continue };
            let (innermost, at) = (thread.published.innermost(), clock::now());
            let seconds = clock::seconds(since, at);
            let is_known = || self.reported.iter().any(|known| ptr::eq(known.thread, thread));
            // Checked again, so that the poll is known to have lasted until the clock was read.
            if seconds >= self.threshold && !is_known() && thread.published.since() == Some(since) {
                thread.published.report(since, innermost);
                self.reported.push(Reported { thread, since, at });
                visit(Seen::Stalls(innermost, seconds));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_look_and_one_after_a_pause_are_late() {
        let (mut watch, start) = (Watch::new(0.1), clock::now());
        let ticks = |seconds: f64| (seconds / clock::seconds(start, start + 1_000_000) * 1e6) as u64;
        let at = [0.0, 0.025, 0.11, 0.3, 0.325].map(|seconds| start + ticks(seconds));
        assert_eq!(at.map(|reading| watch.is_late(reading)), [true, false, false, true, false]);
        let mut often = Watch::new(0.001);
        let at = [0.0, 0.003, 0.013, 0.1].map(|seconds| start + ticks(seconds));
        assert_eq!(
            at.map(|reading| often.is_late(reading)),
            [true, false, false, true],
            "a threshold of 1 ms is usable"
        );
    }
}
