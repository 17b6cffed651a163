//! Our output to standard error: notices to the operator, log lines, telemetry on the console.

mod stderr;
mod writer;

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use self::writer::Writer;

/// The only writer, so that the order of lines is kept.
static WRITER: Writer = Writer::new(lost_line);

/// The format of notices while log lines are written; `None` at other times.
static FORMAT: Mutex<Option<Format>> = Mutex::new(None);

/// A function that formats a level and a text as a line.
pub(crate) type Format = Arc<dyn Fn(u8, &str) -> String + Send + Sync>;

/// The least important level that is written; 0 writes none.
pub(crate) static LEVEL: AtomicU8 = AtomicU8::new(INFO);

/// Information for the operator; nothing is wrong.
pub(crate) const INFO: u8 = 3;
/// Something is wrong, but telemetry works.
pub(crate) const WARN: u8 = 2;
/// Telemetry does not work.
pub(crate) const ERROR: u8 = 1;

/// Sets the least important level that is written.
#[cfg(has_otlp)]
pub(crate) fn set_level(level: u8) {
    LEVEL.store(level, Relaxed);
}

/// Sets the format of notices. Without a format they are `tracecast: <text>`; warnings and errors have their level before the
/// text.
#[cfg(has_logs)]
pub(crate) fn set_format(format: Option<Format>) {
    *self::format() = format;
}

fn format() -> MutexGuard<'static, Option<Format>> {
    FORMAT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes a notice of level [`WARN`], if that level is enabled.
pub(crate) fn say(text: std::fmt::Arguments<'_>) {
    at(WARN, text);
}

/// Writes a notice if its level is enabled.
pub(crate) fn at(level: u8, text: std::fmt::Arguments<'_>) {
    if level <= LEVEL.load(Relaxed) {
        write(line(level, &text.to_string()).as_bytes());
    }
}

/// Formats a notice as a line. If the text begins with the level, the level is not repeated.
fn line(level: u8, text: &str) -> String {
    let prefix = match level {
        ERROR => "error: ",
        WARN => "warning: ",
        _ => "",
    };
    let text = text.strip_prefix(prefix).unwrap_or(text);
    let format = format().clone();
    format.map_or_else(|| format!("tracecast: {prefix}{text}\n"), |format| format(level, text))
}

/// Writes whole lines to standard error. On Unix this never waits: lines that would block are queued, or dropped and counted if
/// the queue is full. Other systems write at once.
pub(crate) fn write(lines: &[u8]) {
    WRITER.write(lines);
}

/// Limits the bytes of lines that wait for standard error.
#[cfg(has_otlp)]
pub(crate) fn set_limit(bytes: usize) {
    WRITER.set_limit(bytes);
}

/// Returns the number of lines that were dropped since the process began.
#[cfg(has_otlp)]
pub(crate) fn lost_lines() -> u64 {
    WRITER.lost_ever()
}

/// Waits until everything is written, for `timeout` at most. After a timeout, does not wait again until something was written.
#[cfg(has_otlp)]
pub(crate) fn settle(timeout: Duration) {
    WRITER.settle(timeout);
}

/// Locks the output. A thread that forks holds this lock.
pub(crate) fn hold() -> Held {
    Held { _format: format(), _writer: WRITER.hold() }
}

/// Keeps the output locked while it lives.
pub(crate) struct Held {
    _format: MutexGuard<'static, Option<Format>>,
    _writer: writer::Held,
}

/// The largest time that the exit of the process waits for queued lines.
const AT_EXIT: Duration = Duration::from_secs(1);

#[cfg_attr(not(unix), expect(dead_code, reason = "lines never wait there"))]
extern "C" fn at_exit() {
    WRITER.settle(AT_EXIT);
}

fn lost_line(lost: u64) -> Vec<u8> {
    line(WARN, &format!("{lost} lines were dropped while standard error was blocked")).into_bytes()
}
