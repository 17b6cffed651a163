//! Exponential backoff with jitter.

use std::time::Duration;

/// A backoff that doubles from the first delay to the longest, with jitter, so that many processes do not retry at the
/// same moment.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    first: Duration,
    longest: Duration,
    attempts: u32,
}

impl Backoff {
    /// Creates a backoff: the first delay is at most `first`, and none exceeds `longest`.
    pub(crate) fn new(first: Duration, longest: Duration) -> Self {
        Backoff { first, longest, attempts: 0 }
    }

    /// Returns the next delay: between half of the attempt's delay and all of it, chosen by `random`. A time `after`
    /// that the receiver named is kept, plus up to a tenth of it, even if it exceeds the longest delay.
    pub(crate) fn next(&mut self, after: Option<Duration>, random: u64) -> Duration {
        let whole = self.first.saturating_mul(1 << self.attempts.min(31)).min(self.longest);
        self.attempts = self.attempts.saturating_add(1);
        let own = scaled(whole, 0.5 + 0.5 * fraction(random));
        match after {
            Some(after) => own.max(after.saturating_add(scaled(after, 0.1 * fraction(random)))),
            None => own,
        }
    }

    /// Restarts with the first delay, after a success.
    pub(crate) fn reset(&mut self) {
        self.attempts = 0;
    }
}

/// Converts random bits to a number from 0 (inclusive) to 1 (exclusive).
fn fraction(random: u64) -> f64 {
    (random >> 11) as f64 / (1_u64 << 53) as f64
}

fn scaled(duration: Duration, factor: f64) -> Duration {
    // Only durations near the end of the range fail, and they need no jitter.
    Duration::try_from_secs_f64(duration.as_secs_f64() * factor).unwrap_or(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(random: u64, expected: &[u64]) {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(1));
        let waits: Vec<u64> = expected.iter().map(|_| backoff.next(None, random).as_millis() as u64).collect();
        assert_eq!(waits, expected);
    }

    #[test]
    fn waits_double_up_to_the_longest() {
        check(0, &[50, 100, 200, 400, 500, 500]);
        check(1 << 63, &[75, 150, 300, 600, 750, 750]);
    }

    #[test]
    fn no_wait_is_longer_than_the_longest() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(1));
        for _ in 0..100 {
            assert!(backoff.next(None, u64::MAX) <= Duration::from_secs(1));
        }
    }

    #[test]
    fn success_starts_again() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(1));
        backoff.next(None, 0);
        backoff.next(None, 0);
        backoff.reset();
        assert_eq!(backoff.next(None, 0), Duration::from_millis(50));
    }

    #[test]
    fn the_time_that_the_receiver_names_is_waited_for() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(1));
        assert_eq!(backoff.next(Some(Duration::from_secs(20)), 0), Duration::from_secs(20));
        let later = backoff.next(Some(Duration::from_secs(20)), u64::MAX);
        assert!(later > Duration::from_secs(21) && later <= Duration::from_secs(22), "{later:?}");
        assert_eq!(backoff.next(Some(Duration::ZERO), 0), Duration::from_millis(200));
    }

    #[test]
    fn extreme_durations_do_not_overflow() {
        let mut backoff = Backoff::new(Duration::MAX, Duration::MAX);
        for random in [0, u64::MAX] {
            backoff.next(Some(Duration::MAX), random);
        }
    }
}
