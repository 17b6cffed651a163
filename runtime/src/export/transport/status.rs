//! The HTTP statuses that are retried, by the OTLP specification.

use std::time::Duration;

use hyper::StatusCode;

use super::sent::Probe;

/// True if a request with this HTTP status is retried.
pub(super) fn http_retries(status: u16) -> bool {
    matches!(status, 429 | 502 | 503 | 504)
}

/// Chooses the probe after this status. A receiver that is overloaded or named a time is not probed.
pub(super) fn http_probe(status: u16, after: Option<Duration>) -> Probe {
    if status == 429 || after.is_some() { Probe::None } else { Probe::Request }
}

/// Returns the number of the status, with its name if it has one.
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
