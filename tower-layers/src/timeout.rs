//! Recognizes an end that a timeout caused: whoever enforces a timeout only drops the call.

use std::time::{Duration, Instant};

/// The least that a call may have left when its timeout ends it.
const SLACK: Duration = Duration::from_millis(5);

/// The time from which on an unexplained end of a call counts as a timeout.
pub(crate) fn due(timeout: Duration, began: Instant) -> Option<Instant> {
    // Timers of the two sides do not agree to the millisecond; a twentieth is the difference that was seen between them.
    let slack = SLACK.max(timeout / 20).min(timeout);
    began.checked_add(timeout - slack)
}
