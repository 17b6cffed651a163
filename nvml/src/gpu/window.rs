//! Minimum, mean and maximum of the samples of a window: an export of the last sample alone would hide the others.
//!
//! The window slides, so each reader sees every sample, independent of the number of readers and their times. It consists of
//! slices; samples are merged into the newest slice, so the memory does not depend on the sampling interval.

use std::time::{Duration, Instant};

/// The slices of a full window, plus the newest one, which is incomplete.
const SLICES: usize = 12 + 1;
/// The number of summarized quantities, in the order of `publish::summarized`.
pub(crate) const QUANTITIES: usize = 5;

/// A summary of the samples of one quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) minimum: f64,
    pub(crate) maximum: f64,
    sum: f64,
    count: u32,
}

impl Spread {
    fn of(value: f64) -> Self {
        Spread { minimum: value, maximum: value, sum: value, count: 1 }
    }

    fn merged(self, other: Spread) -> Self {
        Spread {
            minimum: self.minimum.min(other.minimum),
            maximum: self.maximum.max(other.maximum),
            sum: self.sum + other.sum,
            count: self.count.saturating_add(other.count),
        }
    }

    pub(crate) fn mean(self) -> f64 {
        self.sum / f64::from(self.count)
    }
}

pub(crate) type Spreads = [Option<Spread>; QUANTITIES];

/// The summaries of the samples of one time slice.
#[derive(Clone, Copy, Debug, Default)]
struct Slice {
    number: u64,
    spreads: Spreads,
}

/// A sliding window over the samples of a GPU.
#[derive(Debug, Default)]
pub(crate) struct Window {
    start: Option<Instant>,
    slices: [Slice; SLICES],
}

impl Window {
    /// Adds a sample, and summarizes the samples that are at most `length` old; older ones count for up to one more slice.
    pub(crate) fn add(&mut self, now: Instant, length: Duration, sample: [Option<f64>; QUANTITIES]) -> Spreads {
        let slice = (length / (SLICES as u32 - 1)).max(Duration::from_millis(1));
        let passed = now.saturating_duration_since(*self.start.get_or_insert(now));
        let number = (passed.as_nanos() / slice.as_nanos()) as u64;
        let newest = &mut self.slices[(number % SLICES as u64) as usize];
        if newest.number != number {
            *newest = Slice { number, spreads: [None; QUANTITIES] };
        }
        merge(&mut newest.spreads, sample.map(|value| value.map(Spread::of)));
        let mut all = [None; QUANTITIES];
        let is_new = |slice: &&Slice| slice.number + SLICES as u64 > number;
        self.slices.iter().filter(is_new).for_each(|slice| merge(&mut all, slice.spreads));
        all
    }
}

fn merge(into: &mut Spreads, from: Spreads) {
    for (into, from) in into.iter_mut().zip(from) {
        *into = match (*into, from) {
            (Some(into), Some(from)) => Some(into.merged(from)),
            (into, from) => into.or(from),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: Duration = Duration::from_secs(60);

    fn minimum_mean_maximum(spreads: Spreads) -> Option<(f64, f64, f64)> {
        spreads[0].map(|spread| (spread.minimum, spread.mean(), spread.maximum))
    }

    fn only(value: f64) -> [Option<f64>; QUANTITIES] {
        std::array::from_fn(|at| (at == 0).then_some(value))
    }

    #[test]
    fn each_sample_is_seen_for_the_length_of_the_window_and_not_much_longer() {
        let (start, mut window) = (Instant::now(), Window::default());
        let mut at = |seconds, value| window.add(start + Duration::from_secs(seconds), LENGTH, only(value));
        assert_eq!(minimum_mean_maximum(at(0, 10.0)), Some((10.0, 10.0, 10.0)));
        assert_eq!(minimum_mean_maximum(at(5, 90.0)), Some((10.0, 50.0, 90.0)));
        assert_eq!(minimum_mean_maximum(at(60, 20.0)), Some((10.0, 40.0, 90.0)));
        // The first is older than 60 s; the second is exactly that old.
        assert_eq!(minimum_mean_maximum(at(65, 30.0)).map(|all| (all.0, all.2)), Some((20.0, 90.0)));
        assert_eq!(minimum_mean_maximum(at(71, 30.0)).map(|all| all.2), Some(30.0));
        // After a long pause no old sample is left.
        assert_eq!(minimum_mean_maximum(at(100_000, 7.0)), Some((7.0, 7.0, 7.0)));
    }

    #[test]
    fn a_gap_is_no_sample() {
        let (start, mut window) = (Instant::now(), Window::default());
        assert_eq!(window.add(start, LENGTH, [None; QUANTITIES]), [None; QUANTITIES]);
        let all = window.add(start, LENGTH, only(4.0));
        assert_eq!((minimum_mean_maximum(all), all[1]), (Some((4.0, 4.0, 4.0)), None));
    }

    #[test]
    fn thousands_of_samples_are_merged() {
        let (start, mut window) = (Instant::now(), Window::default());
        let mut last = [None; QUANTITIES];
        for number in 0..6000_u32 {
            last = window.add(start + Duration::from_millis(10) * number, LENGTH, only(f64::from(number)));
        }
        assert_eq!(minimum_mean_maximum(last), Some((0.0, 2999.5, 5999.0)));
    }
}
