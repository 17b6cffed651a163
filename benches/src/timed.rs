//! The timed rounds of one contender.

use crate::stats::Median;

/// Nanoseconds per call, in each round.
pub struct Timed {
    pub name: &'static str,
    pub rounds: Vec<f64>,
}

impl Timed {
    /// Creates contenders with these names, not timed yet.
    pub fn of(names: impl Iterator<Item = &'static str>) -> Vec<Self> {
        names.map(|name| Timed { name, rounds: Vec::new() }).collect()
    }

    /// Returns the least disturbed round: other load only adds time.
    pub fn best(&self) -> f64 {
        self.rounds.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub fn median(&self) -> Median {
        Median::of(self.rounds.iter().copied())
    }
}
