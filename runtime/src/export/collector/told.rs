//! Which causes were told of lately: each is told once a minute, so that a new one is not lost behind another.

use std::time::{Duration, Instant};

/// How often one cause is told.
pub(super) const TOLD_EVERY: Duration = Duration::from_secs(60);
/// So many different causes are told within a minute.
const MOST: usize = 16;

/// When each cause was told.
#[derive(Debug, Default)]
pub(super) struct Told(Vec<(String, Instant)>);

impl Told {
    /// Whether a cause is to be told now. A cause is a few fixed words: a text that a peer chooses would be new each time.
    pub(super) fn is_due(&mut self, cause: &str, now: Instant) -> bool {
        self.0.retain(|(_, told)| now.saturating_duration_since(*told) < TOLD_EVERY);
        if self.0.len() >= MOST || self.0.iter().any(|(known, _)| known == cause) {
            return false;
        }
        self.0.push((cause.to_owned(), now));
        true
    }
}

/// The part of a failure's text that names its cause, without what a peer adds behind a colon.
pub(super) fn head(text: &str) -> &str {
    text.split(": ").next().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_is_told_once_a_minute() {
        let (mut told, start) = (Told::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(told.is_due("HTTP 503", at(0)) && told.is_due("no space left", at(1)));
        assert!(!told.is_due("HTTP 503", at(59)) && told.is_due("HTTP 503", at(60)));
        assert!(!told.is_due("no space left", at(60)) && told.is_due("no space left", at(61)));
    }

    #[test]
    fn causes_without_end_are_told_up_to_a_bound() {
        let (mut told, now) = (Told::default(), Instant::now());
        assert_eq!((0..100).filter(|cause| told.is_due(&cause.to_string(), now)).count(), MOST);
    }

    #[test]
    fn the_head_of_a_cause_is_what_we_wrote() {
        assert_eq!(head("HTTP 503 Service Unavailable: request 17 failed"), "HTTP 503 Service Unavailable");
        assert_eq!(head("connection refused"), "connection refused");
    }
}
