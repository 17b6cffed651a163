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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_statuses_that_are_retried() {
        let retried: Vec<u16> = (100..600).filter(|status| http_retries(*status)).collect();
        assert_eq!(retried, [429, 502, 503, 504]);
    }
}
