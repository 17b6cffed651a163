//! When a receiver wants to be asked again.

use std::time::{Duration, SystemTime};

use super::proto::{self, Value};

/// The longest wait that is believed. A receiver that asks for a year would otherwise end the export.
const LONGEST: Duration = Duration::from_secs(3600);

/// `Retry-After`: seconds, or a date.
pub(super) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than a u64 has are a long wait all the same.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)).min(LONGEST));
    }
    let at = httpdate::parse_http_date(value).ok()?;
    Some(at.duration_since(now).unwrap_or(Duration::ZERO).min(LONGEST))
}

/// The delay of a `google.rpc.RetryInfo` among the details of a `google.rpc.Status`.
pub(super) fn retry_info(status: &[u8]) -> Option<Duration> {
    proto::fields(status).find_map(|(number, value)| match (number, value) {
        (3, Value::Bytes(detail)) => delay_of(detail),
        _ => None,
    })
}

/// The delay in a `google.protobuf.Any` that holds a RetryInfo; zero if it names none.
fn delay_of(any: &[u8]) -> Option<Duration> {
    let kind = proto::bytes(any, 1)?;
    if !kind.ends_with(b"google.rpc.RetryInfo") {
        return None;
    }
    let info = proto::bytes(any, 2).unwrap_or_default();
    let delay = proto::bytes(info, 1).unwrap_or_default();
    // Both fields are signed; a negative delay means now.
    let part = |number| u64::try_from(proto::varint(delay, number).unwrap_or(0) as i64).unwrap_or(0);
    Some(Duration::from_secs(part(1)).saturating_add(Duration::from_nanos(part(2))).min(LONGEST))
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

    fn any(kind: &str, value: &[u8]) -> Vec<u8> {
        let any = [&[0x0a, kind.len() as u8], kind.as_bytes(), &[0x12, value.len() as u8], value].concat();
        [&[0x08, 14, 0x1a, any.len() as u8], any.as_slice()].concat()
    }

    #[test]
    fn retry_info_is_found_among_the_details() {
        let kind = "type.googleapis.com/google.rpc.RetryInfo";
        let delay = |status: &[u8]| retry_info(status);
        assert_eq!(delay(&any(kind, &[0x0a, 2, 0x08, 7])), Some(Duration::from_secs(7)));
        assert_eq!(delay(&any(kind, &[0x0a, 4, 0x08, 1, 0x10, 5])), Some(Duration::new(1, 5)));
        assert_eq!(delay(&any(kind, &[])), Some(Duration::ZERO));
        assert_eq!(delay(&any("type.googleapis.com/google.rpc.DebugInfo", &[0x0a, 2, 0x08, 7])), None);
        assert_eq!(delay(b"garbage"), None);
    }

    #[test]
    fn a_negative_delay_means_now() {
        let minus_one = [0x0a, 11, 0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
        assert_eq!(retry_info(&any("google.rpc.RetryInfo", &minus_one)), Some(Duration::ZERO));
    }
}
