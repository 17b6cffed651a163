//! One line to the operator, for what happens seldom and matters: a capped table is full, a setting was ignored.

use std::io::Write;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// How much is said: nothing, what is wrong, or also what is going on.
pub(crate) static LEVEL: AtomicU8 = AtomicU8::new(INFO);

/// What the host ought to know although nothing is wrong.
pub(crate) const INFO: u8 = 3;
/// What is wrong, and can be lived with.
pub(crate) const WARN: u8 = 2;
/// What keeps telemetry from working.
#[cfg(feature = "otlp")]
pub(crate) const ERROR: u8 = 1;

/// Says no more than this from now on.
#[cfg(feature = "otlp")]
pub(crate) fn set_level(level: u8) {
    LEVEL.store(level, Relaxed);
}

/// Writes `tracecast: <text>` to standard error, of something that is wrong.
pub(crate) fn say(text: std::fmt::Arguments<'_>) {
    at(WARN, text);
}

/// Writes `tracecast: <text>` to standard error, if that much is to be said. Failing to write is not worth another line.
pub(crate) fn at(level: u8, text: std::fmt::Arguments<'_>) {
    if level <= LEVEL.load(Relaxed) {
        // In one piece, so that lines of several processes do not tear each other.
        let line = format!("tracecast: {text}\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}
