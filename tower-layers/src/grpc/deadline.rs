//! The deadlines of a call, from its header and from the settings. Code that enforces a deadline only drops the call,
//! so the reason is inferred from the duration.

use std::time::Duration;

use http::{HeaderMap, HeaderValue};

use crate::grpc::metadata;
use crate::timeout;

/// The durations after which an unexplained end of a call counts as a deadline.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deadline {
    /// From the header of the call; it limits the whole call.
    pub(crate) given: Option<Duration>,
    /// The timeout that this side has for all calls; it is enforced until the response's headers only.
    pub(crate) own: Option<Duration>,
}

impl Deadline {
    /// Returns the deadlines that remain once the headers of the response have arrived.
    pub(crate) fn answered(self) -> Self {
        Deadline { own: None, ..self }
    }

    /// Returns whether a call that has lasted `seconds` has exceeded a deadline.
    pub(crate) fn is_due(&self, seconds: f64) -> bool {
        self.given.into_iter().chain(self.own).any(|timeout| timeout::is_due(timeout, seconds))
    }
}

/// Reads the deadline from the headers of a call; `None` without a valid one.
pub(crate) fn given(headers: &HeaderMap) -> Option<Duration> {
    metadata::find(headers, "grpc-timeout").and_then(parse)
}

/// Parses up to eight digits and a unit.
pub(crate) fn parse(value: &HeaderValue) -> Option<Duration> {
    let value = value.as_bytes();
    let (unit, digits) = value.split_last()?;
    if !(1..=8).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
    Some(match unit {
        b'H' => Duration::from_secs(number * 3600),
        b'M' => Duration::from_secs(number * 60),
        b'S' => Duration::from_secs(number),
        b'm' => Duration::from_millis(number),
        b'u' => Duration::from_micros(number),
        b'n' => Duration::from_nanos(number),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_understood_and_nothing_else() {
        for (text, expected) in [
            ("2H", Some(Duration::from_secs(7200))),
            ("3M", Some(Duration::from_secs(180))),
            ("99999999S", Some(Duration::from_secs(99_999_999))),
            ("201m", Some(Duration::from_millis(201))),
            ("0u", Some(Duration::ZERO)),
            ("7n", Some(Duration::from_nanos(7))),
            ("", None),
            ("S", None),
            ("100000000S", None),
            ("+1S", None),
            ("1.5S", None),
            ("1s", None),
            ("10", None),
        ] {
            assert_eq!(parse(&HeaderValue::from_static(text)), expected, "{text:?}");
        }
    }

    #[track_caller]
    fn check(timeout: &'static str, after: Duration, due: bool) {
        let headers =
            HeaderMap::from_iter([(http::HeaderName::from_static("grpc-timeout"), HeaderValue::from_static(timeout))]);
        for own in [None, Some(Duration::from_secs(3600))] {
            let deadline = Deadline { given: given(&headers), own };
            assert_eq!(deadline.is_due(after.as_secs_f64()), due, "{timeout} {after:?}");
        }
    }

    #[test]
    fn the_shorter_one_counts() {
        let own = Some(Duration::from_secs(1));
        let ten =
            HeaderMap::from_iter([(http::HeaderName::from_static("grpc-timeout"), HeaderValue::from_static("10S"))]);
        for headers in [HeaderMap::new(), ten] {
            let deadline = Deadline { given: given(&headers), own };
            assert_eq!([0.9, 0.95].map(|seconds| deadline.is_due(seconds)), [false, true]);
        }
        assert!(!Deadline::default().is_due(3600.0));
    }

    #[test]
    fn after_the_headers_of_the_response_only_the_calls_own_counts() {
        let own = Some(Duration::from_secs(1));
        let ten =
            HeaderMap::from_iter([(http::HeaderName::from_static("grpc-timeout"), HeaderValue::from_static("10S"))]);
        let deadline = Deadline { given: given(&ten), own }.answered();
        assert_eq!([5.0, 11.0].map(|seconds| deadline.is_due(seconds)), [false, true]);
    }

    #[test]
    fn a_little_before_its_time_is_in_time() {
        check("100m", Duration::from_millis(94), false);
        check("100m", Duration::from_millis(95), true);
        check("10S", Duration::from_millis(9_499), false);
        check("10S", Duration::from_millis(9_500), true);
        check("1m", Duration::ZERO, true);
    }
}

#[cfg(test)]
mod fuzz {
    use super::*;
    use crate::fuzz::{mutated, run};

    #[test]
    fn grpc_timeout() {
        let seeds: [&[u8]; 6] = [b"1S", b"201m", b"99999999H", b"0n", b"00000007u", b"100000000S"];
        let words: [&[u8]; 10] = [b"0", b"9", b"H", b"M", b"S", b"m", b"u", b"n", b"-", b" "];
        run(
            "grpc-timeout",
            &seeds,
            |random| mutated(random, &seeds, &words),
            |input| {
                let Ok(value) = HeaderValue::from_bytes(input) else { return false };
                let Some(timeout) = parse(&value) else { return false };
                let (digits, unit) = input.split_at(input.len() - 1);
                let number: u128 = std::str::from_utf8(digits).unwrap().parse().unwrap();
                let nanoseconds = match unit {
                    b"H" => 3_600_000_000_000,
                    b"M" => 60_000_000_000,
                    b"S" => 1_000_000_000,
                    b"m" => 1_000_000,
                    b"u" => 1_000,
                    _ => 1,
                };
                assert!(digits.len() <= 8);
                assert_eq!(timeout.as_nanos(), number * nanoseconds);
                true
            },
        );
    }
}
