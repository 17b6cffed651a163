//! The label set of an exchange's metrics, packed into one word.

use http::StatusCode;

use super::failure::{Error, Failure};
use super::method::Verb;
use super::protocol::Protocol;
use crate::sets::Target;

/// The labels of one exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Set {
    pub(crate) verb: Verb,
    pub(crate) target: Target,
    /// The status; its class, below ten, in a brief set; zero without a status.
    pub(crate) status: u16,
    pub(crate) error: Option<Error>,
    /// `None` in a brief set.
    pub(crate) protocol: Option<Protocol>,
}

const BY_STATUS: u64 = 15;
/// Set in each word, so that no word is zero.
const IS_SET: u64 = 1 << 63;

impl Set {
    /// Returns the brief set: only the class of the status, no error and no protocol.
    pub(crate) fn brief(self) -> Self {
        Set { status: self.status / 100, error: None, protocol: None, ..self }
    }

    pub(crate) fn word(self) -> u64 {
        let error = match self.error {
            None => 0,
            Some(Error::Failure(failure)) => failure as u64 + 1,
            Some(Error::Status(_)) => BY_STATUS,
        };
        let protocol = self.protocol.map_or(0, |protocol| u64::from(protocol.bits()) + 1);
        let verb = self.verb.index() as u64;
        IS_SET | self.target.bits() << 32 | u64::from(self.status) << 16 | error << 12 | protocol << 4 | verb
    }

    pub(crate) fn of_word(word: u64) -> Self {
        let status = (word >> 16) as u16;
        let error = match word >> 12 & 15 {
            0 => None,
            BY_STATUS => StatusCode::from_u16(status).ok().map(Error::Status),
            at => Failure::ALL.get(at as usize - 1).copied().map(Error::Failure),
        };
        let protocol = ((word >> 4) as u8).checked_sub(1).map(Protocol::from_bits);
        let target = Target::from_bits((word & !IS_SET) >> 32);
        Set { verb: Verb::from_index((word & 15) as usize), target, status, error, protocol }
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
        assert_eq!(Set::of_word(set.word()), set);
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
}
