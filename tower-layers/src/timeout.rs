//! Recognizes an end that a timeout caused: whoever enforces a timeout only drops the call.

use std::time::Duration;

/// The least that a call may have left when its timeout ends it.
const SLACK: Duration = Duration::from_millis(5);

/// Whether an unexplained end of a call that has lasted for so many seconds counts as a timeout.
pub(crate) fn is_due(timeout: Duration, seconds: f64) -> bool {
    // Timers of the two sides do not agree to the millisecond; a twentieth is the difference that was seen between them.
    let slack = SLACK.max(timeout / 20).min(timeout);
    seconds >= (timeout - slack).as_secs_f64()
}
