//! The stop signal of a monitor, on which its idle threads wait, and the pauses between attempts.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

#[derive(Debug, Default)]
pub(crate) struct Stop {
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    pub(crate) fn set(&self) {
        *self.is_set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    pub(crate) fn is_set(&self) -> bool {
        *self.is_set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the stop signal, at most for `pause`, and returns whether the signal is set.
    pub(crate) fn wait(&self, pause: Duration) -> bool {
        let is_set = self.is_set.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(is_set, pause, |is_set| !*is_set);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Pauses between attempts, each twice as long as the one before it, up to a limit.
#[derive(Debug)]
pub(crate) struct Backoff {
    first: Duration,
    most: Duration,
    next: Duration,
}

impl Backoff {
    pub(crate) fn new(first: Duration, most: Duration) -> Self {
        Backoff { first, most, next: first }
    }

    pub(crate) fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.most);
        pause
    }

    pub(crate) fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let seconds = Duration::from_secs;
        let mut backoff = Backoff::new(seconds(5), seconds(12));
        assert_eq!([backoff.next(), backoff.next(), backoff.next()], [seconds(5), seconds(10), seconds(12)]);
        backoff.reset();
        assert_eq!(backoff.next(), seconds(5));
    }

    #[test]
    fn once_set_nobody_waits() {
        let stop = Stop::default();
        assert!(!stop.wait(Duration::from_millis(1)));
        stop.set();
        assert!(stop.wait(Duration::from_secs(3600)) && stop.is_set());
    }
}
