//! What the metrics of an exchange are labelled with, in one word, and the words that were seen.
//!
//! Method, route, status, error and protocol depend on each other: of all that could be made of them, few are. So they are
//! one label with several parts, whose values are learnt. Each part is closed or learnt itself; a caller can at most use up
//! the room, and what finds none is counted together.

use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use http::StatusCode;

use super::failure::{Error, Failure};
use super::method::Verb;
use super::protocol::Protocol;

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Nobody says.
    None,
    /// One that has never answered, or one too many.
    Other,
    /// By its number.
    Known(u32),
}

/// One set of labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Set {
    pub(crate) verb: Verb,
    pub(crate) target: Target,
    /// Zero without one, and less than ten where only its class is told.
    pub(crate) status: u16,
    pub(crate) error: Option<Error>,
    /// Not told by a brief one.
    pub(crate) protocol: Option<Protocol>,
}

const BY_STATUS: u64 = 15;
/// No word of a set is zero.
const IS_SET: u64 = 1 << 63;

impl Set {
    /// Only the class of the status, and neither an error nor the protocol.
    pub(crate) fn brief(self) -> Self {
        Set { status: self.status / 100, error: None, protocol: None, ..self }
    }

    fn word(self) -> u64 {
        let target = match self.target {
            Target::None => 0,
            Target::Other => 1,
            Target::Known(number) => u64::from(number) + 2,
        };
        let error = match self.error {
            None => 0,
            Some(Error::Failure(failure)) => failure as u64 + 1,
            Some(Error::Status(_)) => BY_STATUS,
        };
        let protocol = self.protocol.map_or(0, |protocol| u64::from(protocol.bits()) + 1);
        let verb = self.verb.index() as u64;
        IS_SET | target << 32 | u64::from(self.status) << 16 | error << 12 | protocol << 4 | verb
    }

    fn of_word(word: u64) -> Self {
        let status = (word >> 16) as u16;
        let target = match ((word & !IS_SET) >> 32) as u32 {
            0 => Target::None,
            1 => Target::Other,
            number => Target::Known(number - 2),
        };
        let error = match word >> 12 & 15 {
            0 => None,
            BY_STATUS => StatusCode::from_u16(status).ok().map(Error::Status),
            at => Failure::ALL.get(at as usize - 1).copied().map(Error::Failure),
        };
        let protocol = ((word >> 4) as u8).checked_sub(1).map(Protocol::from_bits);
        Set { verb: Verb::from_index((word & 15) as usize), target, status, error, protocol }
    }
}

/// Sets that were seen, each at a place of its own: up to `N` of them, a power of two.
pub(crate) struct Sets<const N: usize>([AtomicU64; N]);

/// How many places are tried, so that a full table takes no time.
const TRIES: usize = 64;

impl<const N: usize> Sets<N> {
    pub(crate) const fn new() -> Self {
        assert!(N.is_power_of_two());
        Sets([const { AtomicU64::new(0) }; N])
    }

    /// The place of a set; `N` if there is no room for it.
    pub(crate) fn place(&self, set: Set) -> usize {
        let word = set.word();
        // The upper bits of the product depend on all bits of the word. No seed is needed: no part of a word is a text that a peer
        // chooses, and `TRIES` bounds the search.
        let first = (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
        let places = (0..TRIES.min(N)).map(|step| first.wrapping_add(step) & (N - 1));
        places.into_iter().find(|at| self.is_or_becomes(*at, word)).unwrap_or(N)
    }

    /// What has this place.
    pub(crate) fn get(&self, at: usize) -> Option<Set> {
        let word = self.0.get(at)?.load(Acquire);
        (word != 0).then(|| Set::of_word(word))
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
    use http::{Method, Version};

    fn set(number: u32) -> Set {
        Set {
            verb: Verb::of(&Method::GET),
            target: Target::Known(number),
            status: 200,
            error: None,
            protocol: Some(Protocol::new(true).with_version(Version::HTTP_2)),
        }
    }

    #[track_caller]
    fn check(set: Set) {
        let sets = Sets::<64>::new();
        let place = sets.place(set);
        assert_eq!((sets.place(set), sets.get(place)), (place, Some(set)));
    }

    #[test]
    fn a_set_is_kept_as_it_is() {
        check(set(0));
        check(set(383));
        check(set(7).brief());
        check(Set {
            target: Target::None,
            verb: Verb::OTHER,
            status: 0,
            protocol: Some(Protocol::new(false)),
            ..set(0)
        });
        check(Set {
            target: Target::Other,
            status: 999,
            error: Some(Error::Status(StatusCode::from_u16(999).unwrap())),
            ..set(0)
        });
        for failure in Failure::ALL {
            check(Set { error: Some(Error::Failure(failure)), ..set(1) });
        }
    }

    #[test]
    fn different_sets_have_different_places_until_there_is_no_room() {
        let sets = Sets::<64>::new();
        let places: std::collections::HashSet<_> = (0..64).map(|number| sets.place(set(number))).collect();
        assert_eq!((places.len(), places.contains(&64)), (64, false));
        assert_eq!(sets.place(set(64)), 64);
        assert_eq!((sets.place(set(3)), sets.get(64)), (sets.place(set(3)), None));
    }

    #[test]
    fn threads_agree_on_places() {
        let sets = Sets::<256>::new();
        let places: Vec<Vec<_>> = std::thread::scope(|scope| {
            let all = || (0..200).map(|number| sets.place(set(number))).collect();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(all)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(places.iter().all(|thread| *thread == places[0]));
    }
}
