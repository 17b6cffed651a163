//! Receivers and processes that fail. Each test starts programs of its own, or takes turns: there is one telemetry in a process.
#![cfg(all(unix, feature = "otlp", not(miri)))]

#[path = "../support/child.rs"]
mod child;
#[path = "../support/counting.rs"]
mod counting;
#[path = "../support/faulty.rs"]
mod faulty;
#[path = "../support/turn.rs"]
mod turn;

mod do_not_reach_the_caller;
mod lose_nothing;
mod of_the_process;
