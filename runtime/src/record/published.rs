//! The state of a thread's poll: published by the thread for the watchdog, and marked by the watchdog for the thread.
//!
//! Each field has one writer at a time, the thread or the watchdog. A poll is identified by the clock reading at which it began.
//! A stall that the watchdog has marked is settled once: by the thread with the reading at which the poll ended, or, if the poll
//! ended while it was being marked, by the watchdog.

use std::ptr;
use std::sync::atomic::AtomicPtr;

use crate::base::sync::{Acquire, AtomicU64, Relaxed, Release};
use crate::declare::callsite::Callsite;

pub(crate) struct Published {
    /// Written by the thread: the id of its outermost poll, 0 outside of polls, and the reading at which it began.
    outermost: AtomicU64,
    since: AtomicU64,
    /// Written by the thread: its innermost span.
    innermost: AtomicPtr<Callsite>,
    /// Written by the watchdog: the poll that it has reported, and the span that the report named.
    reported: AtomicU64,
    named: AtomicPtr<Callsite>,
    /// Written by the thread: the last reported poll that has ended, and the reading at its end.
    settled: AtomicU64,
    ended: AtomicU64,
    /// Used by the thread only: the last reported poll for which a span has an event.
    noted: AtomicU64,
}

/// The state of a reported poll.
#[cfg(any(has_otlp, test))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The poll continues.
    Lasts,
    /// The poll ended at this reading.
    Ended(u64),
    /// The poll ended while it was being reported, so the thread has not seen the report.
    Unseen,
}

/// Methods for the thread.
impl Published {
    pub(crate) fn new() -> Self {
        Published {
            outermost: AtomicU64::new(0),
            since: AtomicU64::new(0),
            innermost: AtomicPtr::new(ptr::null_mut()),
            // No poll begins at this reading.
            reported: AtomicU64::new(u64::MAX),
            named: AtomicPtr::new(ptr::null_mut()),
            settled: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            noted: AtomicU64::new(0),
        }
    }

    /// Returns whether the thread is inside a poll.
    #[inline(always)]
    pub(crate) fn is_polling(&self) -> bool {
        self.outermost.load(Relaxed) != 0
    }

    /// Begins the outermost poll at the clock reading `now`. `poll` is its id, which is not 0.
    #[inline(always)]
    pub(crate) fn enter(&self, poll: u64, now: u64) {
        // A reader that sees this reading also sees that the previous poll is over and how it was settled. A reader that sees
        // that a poll has begun also sees its reading and the name of the innermost span.
        self.since.store(now, Release);
        self.outermost.store(poll, Release);
    }

    /// Returns whether this poll is the outermost one.
    #[inline(always)]
    pub(crate) fn is_outermost(&self, poll: u64) -> bool {
        self.outermost.load(Relaxed) == poll
    }

    /// Ends the outermost poll. If it was reported, call `settle` first.
    #[inline(always)]
    pub(crate) fn leave(&self) {
        self.outermost.store(0, Release);
    }

    /// Settles the outermost poll, which was reported and ends now.
    pub(crate) fn settle(&self, now: u64) {
        self.ended.store(now, Relaxed);
        self.settled.store(self.since.load(Relaxed), Release);
    }

    /// Publishes the innermost span.
    #[inline(always)]
    pub(crate) fn name(&self, innermost: Option<&'static Callsite>) {
        self.innermost.store(innermost.map_or(ptr::null(), ptr::from_ref).cast_mut(), Relaxed);
    }

    /// Returns the reading at which the current poll began, if the poll was reported.
    #[inline(always)]
    pub(crate) fn mark(&self) -> Option<u64> {
        let since = self.since.load(Relaxed);
        (self.reported.load(Acquire) == since).then_some(since)
    }

    /// Returns the reading at which the current poll began, if the poll was reported with this span's name and the reading was
    /// not taken before.
    pub(crate) fn take_mark(&self, span: &'static Callsite) -> Option<u64> {
        let since = self.mark().filter(|since| self.is_polling() && self.noted.load(Relaxed) != *since)?;
        if !ptr::eq(self.named.load(Relaxed), span) {
            return None;
        }
        self.noted.store(since, Relaxed);
        Some(since)
    }

    /// Clears the state when the thread ends.
    pub(crate) fn clear(&self) {
        self.name(None);
        self.outermost.store(0, Release);
    }
}

/// Methods for the watchdog.
#[cfg(any(has_otlp, test))]
impl Published {
    /// Returns the reading at which the thread's outermost poll began; `None` outside of polls.
    pub(crate) fn since(&self) -> Option<u64> {
        let is_inside = || self.outermost.load(Acquire) != 0;
        let since = is_inside().then(|| self.since.load(Acquire))?;
        // Otherwise the reading may be of a poll that is about to begin.
        is_inside().then_some(since)
    }

    /// Returns the thread's innermost span at about this moment.
    pub(crate) fn innermost(&self) -> Option<&'static Callsite> {
        // SAFETY: only `name` stores here, and only addresses of `&'static Callsite`.
        unsafe { self.innermost.load(Relaxed).as_ref() }
    }

    /// Marks the poll that began at `since` as reported.
    pub(crate) fn report(&self, since: u64, named: Option<&'static Callsite>) {
        self.named.store(named.map_or(ptr::null(), ptr::from_ref).cast_mut(), Relaxed);
        self.reported.store(since, Release);
    }

    /// Returns the state of the last reported poll, which began at `since`.
    pub(crate) fn fate(&self, since: u64) -> Fate {
        if self.since() == Some(since) {
            return Fate::Lasts;
        }
        match self.settled.load(Acquire) == since {
            true => Fate::Ended(self.ended.load(Relaxed)),
            false => Fate::Unseen,
        }
    }
}

/// Ends a poll as the thread does.
#[cfg(test)]
fn end(published: &Published, now: u64) {
    if published.mark().is_some() {
        published.settle(now);
    }
    published.leave();
}

#[cfg(all(test, loom))]
mod model {
    use loom::sync::Arc;

    use super::*;

    /// Two polls of one thread, each ten ticks long, while the watchdog reports them.
    #[test]
    fn a_poll_that_is_reported_has_one_end() {
        loom::model(|| {
            let published = Arc::new(Published::new());
            published.enter(1, 10);
            let thread = loom::thread::spawn({
                let published = published.clone();
                move || {
                    end(&published, 20);
                    published.enter(1, 30);
                    end(&published, 40);
                }
            });
            let Some(since) = published.since() else { return drop(thread.join()) };
            published.report(since, None);
            let early = published.fate(since);
            thread.join().unwrap();
            let fate = published.fate(since);
            assert!(fate == Fate::Unseen || fate == Fate::Ended(since + 10), "{since}: {fate:?}");
            assert!(early == Fate::Lasts || early == fate, "{early:?} became {fate:?}");
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::declare::callsite::Kind;

    static READ: Callsite = Callsite::unlinked("Store/Read", Kind::Internal);
    static LOAD: Callsite = Callsite::unlinked("Store/Load", Kind::Internal);

    #[test]
    fn the_named_span_takes_the_mark_once() {
        let published = Published::new();
        published.name(Some(&READ));
        published.enter(1, 10);
        assert_eq!(published.take_mark(&READ), None);
        published.report(10, published.innermost());
        assert_eq!([&LOAD, &READ, &READ].map(|span| published.take_mark(span)), [None, Some(10), None]);
        assert_eq!(published.fate(10), Fate::Lasts);
        end(&published, 15);
        assert_eq!((published.fate(10), published.take_mark(&READ)), (Fate::Ended(15), None));
    }

    #[test]
    fn a_poll_that_ended_before_its_mark_is_not_mistaken_for_the_next_one() {
        let published = Published::new();
        published.enter(1, 10);
        end(&published, 15);
        published.enter(1, 20);
        published.report(10, None);
        assert_eq!((published.since(), published.fate(10)), (Some(20), Fate::Unseen));
        end(&published, 25);
        assert_eq!((published.since(), published.fate(10)), (None, Fate::Unseen));
    }

    /// Miri detects data races between a thread and the watchdog here.
    #[test]
    fn each_reported_poll_is_settled_once_while_the_thread_goes_on() {
        let published = Published::new();
        let is_over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for poll in 1_u64.. {
                    published.name(Some(if poll.is_multiple_of(2) { &READ } else { &LOAD }));
                    published.enter(1, 10 * poll);
                    if poll.is_multiple_of(8) {
                        std::thread::yield_now();
                    }
                    end(&published, 10 * poll + 5);
                    if is_over.load(Acquire) {
                        break;
                    }
                }
            });
            let mut reported = 0;
            while reported < if cfg!(miri) { 20 } else { 2_000 } {
                let Some(since) = published.since() else {
                    std::thread::yield_now();
                    continue;
                };
                published.report(since, published.innermost());
                while published.fate(since) == Fate::Lasts {
                    std::thread::yield_now();
                }
                let fate = published.fate(since);
                assert!(fate == Fate::Unseen || fate == Fate::Ended(since + 5), "{since}: {fate:?}");
                reported += 1;
            }
            is_over.store(true, Release);
        });
        assert_eq!(published.since(), None);
    }
}
