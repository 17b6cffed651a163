//! Wakes idle tasks without the timer of a runtime. One thread, started with the first alarm, serves all of them.
//!
//! Wakers are other libraries' code: they are cloned, woken and dropped while no lock is held.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread;
use std::time::Instant;

/// The time of an alarm, and a number that distinguishes alarms of the same time.
type Time = (Instant, u64);

struct Alarms {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

struct Waiting {
    wakers: BTreeMap<Time, Waker>,
    /// Whether the thread was started.
    runs: bool,
}

/// The alarms of this process, and of processes forked from it. A forked child has none of its parent's threads, and a
/// mutex that was locked at the fork stays locked in the child, so the child uses the next element. The 16th nested
/// fork has no alarms.
static ALARMS: [Alarms; 16] = [const { Alarms::new() }; 16];
/// The index of the element in use (upper half) and the id of the process that uses it (lower half).
static IN_USE: AtomicU64 = AtomicU64::new(0);
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// An alarm, which wakes a task once, at a given time. A dropped alarm is cancelled.
#[derive(Debug)]
pub(crate) struct Alarm(Time);

impl Alarm {
    pub(crate) fn at(time: Instant) -> Self {
        Alarm((time, NUMBER.fetch_add(1, Relaxed)))
    }

    /// Sets the task to wake, in place of an earlier task.
    pub(crate) fn wake(&self, waker: &Waker) {
        let Some(alarms) = of_process() else { return };
        if alarms.lock().wakers.get(&self.0).is_some_and(|known| known.will_wake(waker)) {
            return;
        }
        let waker = waker.clone();
        let replaced = alarms.set(self.0, waker);
        drop(replaced);
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        let gone = of_process().and_then(|alarms| alarms.lock().wakers.remove(&self.0));
        drop(gone);
    }
}

/// Returns the alarms of this process; `None` if it was forked too often.
fn of_process() -> Option<&'static Alarms> {
    let process = u64::from(std::process::id());
    let next = |in_use: u64| match (in_use as u32, in_use >> 32) {
        (0, _) => process,
        (_, index) => (index + 1) << 32 | process,
    };
    let mut in_use = IN_USE.load(Relaxed);
    while u64::from(in_use as u32) != process {
        in_use = match IN_USE.compare_exchange(in_use, next(in_use), Relaxed, Relaxed) {
            Ok(before) => next(before),
            Err(changed) => changed,
        };
    }
    ALARMS.get((in_use >> 32) as usize)
}

impl Alarms {
    const fn new() -> Self {
        Alarms { waiting: Mutex::new(Waiting { wakers: BTreeMap::new(), runs: false }), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the waker of an alarm, and starts the thread if it does not run. Returns the waker that was set before.
    fn set(&'static self, time: Time, waker: Waker) -> Option<Waker> {
        let mut waiting = self.lock();
        let replaced = waiting.wakers.insert(time, waker);
        if !waiting.runs {
            // If the thread cannot be started, a task is polled again only by its own events.
            waiting.runs = thread::Builder::new().name("tc-alarms".to_owned()).spawn(|| self.serve()).is_ok();
        }
        if waiting.wakers.keys().next() == Some(&time) {
            self.changed.notify_one();
        }
        replaced
    }

    fn serve(&self) {
        let mut waiting = self.lock();
        loop {
            let now = Instant::now();
            let Some(entry) = waiting.wakers.first_entry() else {
                waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let (time, _) = *entry.key();
            if time > now {
                waiting = self.changed.wait_timeout(waiting, time - now).unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            let waker = entry.remove();
            drop(waiting);
            // A waker that panics must not keep the others from being woken.
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
                // Dropping it may panic again, which would end this thread.
                std::mem::forget(payload);
            }
            waiting = self.lock();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::mpsc;
    use std::task::Wake;
    use std::time::Duration;

    struct Tell(mpsc::SyncSender<&'static str>, &'static str);

    impl Wake for Tell {
        fn wake(self: Arc<Self>) {
            self.0.send(self.1).unwrap();
        }
    }

    struct Panics;

    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("as it was told");
        }
    }

    #[test]
    fn tasks_are_woken_in_their_order_and_not_after_they_gave_up() {
        let (tell, told) = mpsc::sync_channel(8);
        let now = Instant::now();
        let alarm = |millis: u64, name| {
            let alarm = Alarm::at(now + Duration::from_millis(millis));
            alarm.wake(&Waker::from(Arc::new(Panics)));
            alarm.wake(&Waker::from(Arc::new(Tell(tell.clone(), name))));
            alarm
        };
        let (_late, gone, _early) = (alarm(60, "late"), alarm(40, "gone"), alarm(20, "early"));
        let panics = Alarm::at(now);
        panics.wake(&Waker::from(Arc::new(Panics)));
        drop(gone);
        let limit = Duration::from_secs(20);
        assert_eq!([told.recv_timeout(limit), told.recv_timeout(limit)], [Ok("early"), Ok("late")]);
        // The alarms of other tests are much later.
        assert!(of_process().unwrap().lock().wakers.keys().all(|(time, _)| *time > now + limit));
    }

    /// A waker that owns an alarm, as the waker of a task that holds a stream does.
    struct Holds(#[expect(dead_code, reason = "it is dropped")] Alarm);

    impl Wake for Holds {
        fn wake(self: Arc<Self>) {}
    }

    #[test]
    fn a_waker_may_drop_another_alarm_when_it_is_dropped() {
        let (tell, told) = mpsc::sync_channel(8);
        thread::spawn(move || {
            let later = Instant::now() + Duration::from_secs(3600);
            let (inner, outer) = (Alarm::at(later), Alarm::at(later));
            inner.wake(Waker::noop());
            outer.wake(&Waker::from(Arc::new(Holds(inner))));
            outer.wake(Waker::noop());
            let wakers = of_process().unwrap().lock().wakers.keys().filter(|(time, _)| *time == later).count();
            tell.send(wakers).unwrap();
        });
        assert_eq!(told.recv_timeout(Duration::from_secs(20)), Ok(1));
    }
}
