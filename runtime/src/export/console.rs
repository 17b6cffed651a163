//! Telemetry for people: on standard error, as text or as lines of JSON.

use crate::base::notice;

pub(crate) fn show(text: &str) {
    notice::write(text.as_bytes());
}

/// Shows one line, in one piece.
pub(crate) fn show_line(bytes: &[u8]) {
    notice::write(&[bytes, b"\n"].concat());
}
