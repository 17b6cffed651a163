//! Memory while receivers fail: a program of its own, because its first telemetry fixes the capacity of the recorder, and what
//! the tests fill depends on how busy the machine is. They take turns.
#![cfg(all(unix, feature = "otlp", not(miri)))]

#[path = "../support/faulty.rs"]
mod faulty;
#[path = "../support/turn.rs"]
mod turn;

mod faults;
