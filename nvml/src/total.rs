//! Turns counts that may restart, such as those of a reloaded driver, into increments for counters.

/// The last reading of a count.
#[derive(Debug, Default)]
pub(crate) struct Total(Option<u64>);

impl Total {
    /// Returns the increase since the last reading; 0 for the first one.
    pub(crate) fn advance(&mut self, reading: u64) -> u64 {
        match self.0.replace(reading) {
            None => 0,
            // A lower reading: the count restarted from 0.
            Some(last) => reading.checked_sub(last).unwrap_or(reading),
        }
    }

    /// Returns the increase of a count that never restarts: a lower reading adds nothing, and the highest one is kept.
    pub(crate) fn advance_to(&mut self, reading: u64) -> u64 {
        let last = self.0.unwrap_or(reading);
        self.0 = Some(last.max(reading));
        reading.saturating_sub(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_began_again_goes_on_growing() {
        let mut total = Total::default();
        assert_eq!([1000, 1010, 1010, 3, 5].map(|reading| total.advance(reading)), [0, 10, 0, 3, 2]);
    }

    #[test]
    fn a_count_that_falls_a_little_waits() {
        let mut total = Total::default();
        assert_eq!([1000, 1010, 1008, 1011].map(|reading| total.advance_to(reading)), [0, 10, 0, 1]);
    }
}
