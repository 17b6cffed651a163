//! How a program ends: by hand, where tests take turns, and by signals, where each test starts a program of its own.
#![cfg(all(feature = "otlp", not(miri)))]

#[cfg(unix)]
#[path = "../support/child.rs"]
mod child;
#[path = "../support/turn.rs"]
mod turn;

mod by_hand;
#[cfg(unix)]
mod flushes_telemetry;
#[cfg(unix)]
mod on_signals;
