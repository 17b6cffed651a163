//! Wakes tasks at which nothing happens, without a timer of any runtime: one thread for all of them, made when the first
//! one waits.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread;
use std::time::Instant;

/// When, and a number that tells alarms of the same time apart.
type Time = (Instant, u64);

#[derive(Default)]
struct Alarms {
    waiting: BTreeMap<Time, Waker>,
    runs: bool,
}

static ALARMS: Mutex<Alarms> = Mutex::new(Alarms { waiting: BTreeMap::new(), runs: false });
static CHANGED: Condvar = Condvar::new();
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Wakes a task once, at its time. Dropped before that, it does not.
#[derive(Debug)]
pub(crate) struct Alarm(Time);

impl Alarm {
    pub(crate) fn at(time: Instant) -> Self {
        Alarm((time, NUMBER.fetch_add(1, Relaxed)))
    }

    /// Says whom to wake, in place of whom it said before.
    pub(crate) fn wake(&self, waker: &Waker) {
        let mut alarms = lock();
        match alarms.waiting.get_mut(&self.0) {
            Some(known) => known.clone_from(waker),
            None => {
                alarms.waiting.insert(self.0, waker.clone());
                alarms.run();
                if alarms.waiting.keys().next() == Some(&self.0) {
                    CHANGED.notify_one();
                }
            }
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        // A waker may run anything when it is dropped, so not while the others are locked.
        let gone = lock().waiting.remove(&self.0);
        drop(gone);
    }
}

impl Alarms {
    /// Without a thread, tasks come back when something happens to them.
    fn run(&mut self) {
        if !self.runs {
            self.runs = thread::Builder::new().name("tc-alarms".to_owned()).spawn(serve).is_ok();
        }
    }
}

fn lock() -> MutexGuard<'static, Alarms> {
    ALARMS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve() {
    let mut alarms = lock();
    loop {
        let now = Instant::now();
        let Some(entry) = alarms.waiting.first_entry() else {
            alarms = CHANGED.wait(alarms).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        let (time, _) = *entry.key();
        if time > now {
            alarms = CHANGED.wait_timeout(alarms, time - now).unwrap_or_else(PoisonError::into_inner).0;
            continue;
        }
        let waker = entry.remove();
        drop(alarms);
        // Whose waker panics has its own trouble; the others wait for theirs.
        let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        alarms = lock();
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
        assert!(lock().waiting.is_empty());
    }
}
