//! The console exporter: writes telemetry to standard error, as text or as JSON lines.

use crate::base::notice;

pub(crate) fn show(text: &str) {
    notice::write(text.as_bytes());
}

/// Writes one line with a single write.
pub(crate) fn show_line(bytes: &[u8]) {
    notice::write(&[bytes, b"\n"].concat());
}
