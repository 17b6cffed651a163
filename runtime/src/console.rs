//! Telemetry for people: on standard error, as text or as lines of JSON.

use std::io::Write;

/// Failing to write is not worth another line.
pub(crate) fn show(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// One line, which is not to be torn by others.
pub(crate) fn show_line(bytes: &[u8]) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(bytes).and_then(|()| stderr.write_all(b"\n"));
}
