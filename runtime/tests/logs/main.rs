//! Log lines and log records. What is behind our layer is the process's, so tests take turns; those about what is global in a
//! process are run again in one of their own.
#![cfg(feature = "logs")]

#[cfg(not(miri))]
#[path = "../support/child.rs"]
mod child;
#[cfg(all(unix, not(miri)))]
#[path = "../support/faulty.rs"]
mod faulty;
#[path = "../support/turn.rs"]
mod turn;

mod beside_other_layers;
#[cfg(not(miri))]
mod captured;
mod fmt_layer;
mod hostile_texts;
mod lines;
#[cfg(not(miri))]
mod log_tracer;
mod rust_log;
mod shared_keys;
#[cfg(all(unix, not(miri)))]
mod standard_error;
mod stay_out_of_trouble;
#[cfg(not(miri))]
mod with_a_subscriber;
#[cfg(not(miri))]
mod without_a_subscriber;
