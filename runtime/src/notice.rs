//! One line to the operator, for what happens seldom and matters: a capped table is full, a setting was ignored.

use std::io::Write;

/// Writes `tracecast: <text>` to standard error. Failing to write is not worth another line.
pub(crate) fn say(text: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "tracecast: {text}");
}
