//! Limits reports of failures: each cause is reported once a minute at most, so a frequent cause does not hide a new
//! one.

use std::time::{Duration, Instant};

/// The minimum time between two reports of a cause.
pub(super) const REPORT_EVERY: Duration = Duration::from_secs(60);
/// The maximum number of causes reported within a minute.
const MOST: usize = 16;

/// The causes reported within the last minute.
#[derive(Debug, Default)]
pub(super) struct Reported(Vec<(String, Instant)>);

impl Reported {
    /// Returns whether a cause is to be reported now, and notes the report. False if the cause, or the maximum number
    /// of causes, was reported within the last minute. Causes must be fixed words: a text chosen by a peer could be new
    /// each time.
    pub(super) fn is_due(&mut self, cause: &str, now: Instant) -> bool {
        self.0.retain(|(_, at)| now.saturating_duration_since(*at) < REPORT_EVERY);
        if self.0.len() >= MOST || self.0.iter().any(|(known, _)| known == cause) {
            return false;
        }
        self.0.push((cause.to_owned(), now));
        true
    }
}

/// Returns the part of a failure's text before the first colon: our own words, without the text of the peer.
pub(super) fn head(text: &str) -> &str {
    text.split(": ").next().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_is_reported_once_a_minute() {
        let (mut reported, start) = (Reported::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(reported.is_due("HTTP 503", at(0)) && reported.is_due("no space left", at(1)));
        assert!(!reported.is_due("HTTP 503", at(59)) && reported.is_due("HTTP 503", at(60)));
        assert!(!reported.is_due("no space left", at(60)) && reported.is_due("no space left", at(61)));
    }

    #[test]
    fn causes_without_end_are_reported_up_to_a_bound() {
        let (mut reported, now) = (Reported::default(), Instant::now());
        assert_eq!((0..100).filter(|cause| reported.is_due(&cause.to_string(), now)).count(), MOST);
    }

    #[test]
    fn the_head_of_a_cause_is_what_we_wrote() {
        assert_eq!(head("HTTP 503 Service Unavailable: request 17 failed"), "HTTP 503 Service Unavailable");
        assert_eq!(head("connection refused"), "connection refused");
    }
}
