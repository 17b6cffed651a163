//! Counts of the driver, which start again when it is loaded again, as counts that only grow.

/// A count as the driver gave it last.
#[derive(Debug, Default)]
pub(crate) struct Total(Option<u64>);

impl Total {
    /// How much came since the last reading. The first one is where counting begins.
    pub(crate) fn advance(&mut self, reading: u64) -> u64 {
        match self.0.replace(reading) {
            None => 0,
            // Less than before: it began again from 0.
            Some(last) => reading.checked_sub(last).unwrap_or(reading),
        }
    }

    /// The same for a count that never begins again: less than before is nothing new.
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
