//! The gRPC statuses that are retried, by the OTLP specification, and the delay that the receiver names.

use std::time::Duration;

use crate::export::transport::hint::LONGEST;
use crate::export::transport::proto::{self, Value};

/// gRPC status codes.
pub(super) const UNKNOWN: u32 = 2;
pub(super) const RESOURCE_EXHAUSTED: u32 = 8;
pub(super) const OUT_OF_RANGE: u32 = 11;

/// True if a request with this gRPC status is retried. RESOURCE_EXHAUSTED is temporary only if the receiver sends
/// RetryInfo.
pub(super) fn retries(code: u32, has_retry_info: bool) -> bool {
    match code {
        // Cancelled, deadline exceeded, aborted, out of range, unavailable, data loss.
        1 | 4 | 10 | 11 | 14 | 15 => true,
        RESOURCE_EXHAUSTED => has_retry_info,
        _ => false,
    }
}

/// Finds the delay of a `google.rpc.RetryInfo` in the details of a `google.rpc.Status`; `None` if there is no such
/// detail.
pub(in crate::export::transport) fn retry_info(status: &[u8]) -> Option<Duration> {
    proto::fields(status).find_map(|(number, value)| match (number, value) {
        (3, Value::Bytes(detail)) => delay_of(detail),
        _ => None,
    })
}

/// Reads the delay of a RetryInfo in a `google.protobuf.Any`, zero if the RetryInfo has none; `None` for other types.
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
    use crate::base::grpc::name_of;

    #[test]
    fn statuses_that_are_retried() {
        let retried = |has_retry_info| -> Vec<&str> {
            (0..20).filter(|code| retries(*code, has_retry_info)).map(name_of).collect()
        };
        let always = ["CANCELLED", "DEADLINE_EXCEEDED", "ABORTED", "OUT_OF_RANGE", "UNAVAILABLE", "DATA_LOSS"];
        assert_eq!(retried(false), always);
        assert_eq!(retried(true).len(), 7);
        assert!(retried(true).contains(&"RESOURCE_EXHAUSTED"));
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
