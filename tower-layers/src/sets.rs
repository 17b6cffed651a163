//! Bounded tables of label sets whose parts depend on each other, such as the method, route and status of a request.
//!
//! Few of the possible combinations occur. So the set is one label with several parts, and a combination gets its
//! ordinal when it is first seen. Each part has a closed set of values, or a bounded table of its own (`learnt`). If
//! callers fill the table of sets, all further sets are counted together.

use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// The attribute, always `true`, of the point that counts all sets for which there was no room. The name is that of
/// OpenTelemetry's SDKs.
pub(crate) const OVERFLOW: &str = "otel.metric.overflow";

/// A server or a route as a part of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A request without a server's name or a route.
    None,
    /// A server or route without an entry in its table, because no request to it was answered yet or the table is full.
    /// Its label value is `_OTHER`.
    Other,
    /// The number of a server or route in a table of [`learnt`](crate::learnt) texts.
    Known(u32),
}

impl Target {
    /// Returns the target with this number; `Other` without a number.
    pub(crate) fn of(number: Option<u32>) -> Self {
        number.map_or(Target::Other, Target::Known)
    }

    /// Returns the target as at most 31 bits of a word.
    pub(crate) fn bits(self) -> u64 {
        match self {
            Target::None => 0,
            Target::Other => 1,
            Target::Known(number) => u64::from(number) + 2,
        }
    }

    pub(crate) fn from_bits(bits: u64) -> Self {
        match bits as u32 {
            0 => Target::None,
            1 => Target::Other,
            number => Target::Known(number - 2),
        }
    }
}

/// The sets seen so far, each as one nonzero word in its own slot: up to `N`, a power of two.
pub(crate) struct Sets<const N: usize>([AtomicU64; N]);

/// The number of slots that are tried, which bounds the search in a full table.
const TRIES: usize = 64;

impl<const N: usize> Sets<N> {
    pub(crate) const fn new() -> Self {
        assert!(N.is_power_of_two());
        Sets([const { AtomicU64::new(0) }; N])
    }

    /// Returns the slot of a set, and stores the set there if it is new. Returns `N` if there is no room.
    pub(crate) fn place(&self, word: u64) -> usize {
        // The upper bits of the product depend on all bits of the word. No seed is needed: no part of a word is a text that a peer
        // chooses, and `TRIES` bounds the search.
        let first = (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
        let places = (0..TRIES.min(N)).map(|step| first.wrapping_add(step) & (N - 1));
        places.into_iter().find(|at| self.is_or_becomes(*at, word)).unwrap_or(N)
    }

    /// Returns the set in this slot; `None` if the slot is empty or does not exist.
    pub(crate) fn get(&self, at: usize) -> Option<u64> {
        Some(self.0.get(at)?.load(Acquire)).filter(|word| *word != 0)
    }

    fn is_or_becomes(&self, at: usize, word: u64) -> bool {
        match self.0[at].load(Relaxed) {
            0 => self.0[at].compare_exchange(0, word, Release, Relaxed).map_or_else(|found| found == word, |_| true),
            found => found == word,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_sets_have_different_places_until_there_is_no_room() {
        let sets = Sets::<64>::new();
        let places: std::collections::HashSet<_> = (1..=64).map(|word| sets.place(word)).collect();
        assert_eq!((places.len(), places.contains(&64)), (64, false));
        assert_eq!(sets.place(65), 64);
        assert_eq!((sets.get(sets.place(3)), sets.get(64)), (Some(3), None));
    }

    #[test]
    fn threads_agree_on_places() {
        let sets = Sets::<256>::new();
        let places: Vec<Vec<_>> = std::thread::scope(|scope| {
            let all = || (1..=200).map(|word| sets.place(word)).collect();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(all)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(places.iter().all(|thread| *thread == places[0]));
    }

    #[test]
    fn a_target_is_a_few_bits() {
        for target in [Target::None, Target::Other, Target::Known(0), Target::Known(511)] {
            assert_eq!(Target::from_bits(target.bits()), target);
        }
    }
}
