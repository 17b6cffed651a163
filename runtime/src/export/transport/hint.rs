//! The `Retry-After` header.

use std::time::{Duration, SystemTime};

/// The longest delay that is accepted. A receiver that names a year would otherwise end the export.
pub(super) const LONGEST: Duration = Duration::from_secs(3600);

/// Parses `Retry-After`: seconds, or a date. Returns the delay, at most an hour; `None` if the value is neither.
pub(super) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that exceeds u64 is the longest delay.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)).min(LONGEST));
    }
    let at = httpdate::parse_http_date(value).ok()?;
    Some(at.duration_since(now).unwrap_or(Duration::ZERO).min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, seconds: Option<u64>) {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:00 GMT").unwrap();
        assert_eq!(retry_after(value, now), seconds.map(Duration::from_secs), "{value}");
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        check("0", Some(0));
        check(" 120 ", Some(120));
        check("Sun, 06 Nov 1994 08:49:37 GMT", Some(37));
        check("Sunday, 06-Nov-94 08:49:37 GMT", Some(37));
        check("Sun Nov  6 08:49:37 1994", Some(37));
        check("Sun, 06 Nov 1994 08:00:00 GMT", Some(0));
    }

    #[test]
    fn a_wait_without_end_is_shortened() {
        check("4000", Some(3600));
        check("99999999999999999999999999", Some(3600));
        check("Sat, 06 Nov 2094 08:49:37 GMT", Some(3600));
    }

    #[test]
    fn what_is_no_time_is_no_hint() {
        check("", None);
        check("-1", None);
        check("1.5", None);
        check("soon", None);
    }
}
