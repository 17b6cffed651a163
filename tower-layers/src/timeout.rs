//! Recognizes a call that a timeout ended: code that enforces a timeout only drops the call.

use std::time::Duration;

/// The minimum slack: a call counts as timed out from this long before its timeout.
const SLACK: Duration = Duration::from_millis(5);

/// Returns whether an unexplained end after `seconds` counts as a timeout.
pub(crate) fn is_due(timeout: Duration, seconds: f64) -> bool {
    // The timers of the two sides differ by milliseconds; differences of up to a twentieth were seen.
    let slack = SLACK.max(timeout / 20).min(timeout);
    seconds >= (timeout - slack).as_secs_f64()
}
