//! Whoever starts recording, metering or telemetry has the process for itself.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// There is one of each in a process: tests that start one, and tests that one would disturb, take turns.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a recording without what the test before has left.
#[allow(dead_code, reason = "each test crate uses a part of it")]
pub(crate) fn start_recording(config: tracecast::testing::RecordingConfig) -> tracecast::testing::Recording {
    let recording = tracecast::testing::Recording::start(config).unwrap();
    recording.drain();
    recording
}
