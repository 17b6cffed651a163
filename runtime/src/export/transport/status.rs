//! Which answers mean "again later", by the rules of the OTLP specification.

use std::time::Duration;

use hyper::StatusCode;

use super::sent::Probe;

/// Whether a request with this HTTP status may be sent again.
pub(super) fn http_retries(status: u16) -> bool {
    matches!(status, 429 | 502 | 503 | 504)
}

/// What finds out whether a receiver is back that answered so. One that is asked too often is not asked more.
pub(super) fn http_probe(status: u16, after: Option<Duration>) -> Probe {
    if status == 429 || after.is_some() { Probe::None } else { Probe::Request }
}

/// The number, and its name if it has one.
pub(super) fn http_name(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(name) => format!("{} {name}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}

/// The gRPC status of an error that nobody knows, of a receiver that is out of something, and of one that finds a message too
/// large.
pub(super) const UNKNOWN: u32 = 2;
pub(super) const RESOURCE_EXHAUSTED: u32 = 8;
pub(super) const OUT_OF_RANGE: u32 = 11;

/// Whether a request with this gRPC status may be sent again. A receiver whose resources are exhausted says by
/// RetryInfo that they will come back; without it they may not.
pub(super) fn grpc_retries(code: u32, has_retry_info: bool) -> bool {
    match code {
        // Cancelled, deadline exceeded, aborted, out of range, unavailable, data loss.
        1 | 4 | 10 | 11 | 14 | 15 => true,
        RESOURCE_EXHAUSTED => has_retry_info,
        _ => false,
    }
}

/// The name of a gRPC status, as the specification writes it.
pub(super) fn grpc_name(code: u32) -> &'static str {
    const NAMES: [&str; 17] = [
        "OK",
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    ];
    NAMES.get(code as usize).copied().unwrap_or("UNKNOWN")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_statuses_that_are_retried() {
        let retried: Vec<u16> = (100..600).filter(|status| http_retries(*status)).collect();
        assert_eq!(retried, [429, 502, 503, 504]);
    }

    #[test]
    fn grpc_statuses_that_are_retried() {
        let retried = |has_retry_info| -> Vec<&str> {
            (0..20).filter(|code| grpc_retries(*code, has_retry_info)).map(grpc_name).collect()
        };
        let always = ["CANCELLED", "DEADLINE_EXCEEDED", "ABORTED", "OUT_OF_RANGE", "UNAVAILABLE", "DATA_LOSS"];
        assert_eq!(retried(false), always);
        assert_eq!(retried(true).len(), 7);
        assert!(retried(true).contains(&"RESOURCE_EXHAUSTED"));
    }
}
