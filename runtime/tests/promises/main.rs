//! What variables and limits promise, seen from outside of programs. Each test starts programs of its own, or takes turns.
#![cfg(all(feature = "otlp", not(miri)))]

#[path = "../support/child.rs"]
mod child;
#[path = "../support/turn.rs"]
mod turn;

#[cfg(feature = "tls")]
mod certificates;
mod from_start_to_end;
mod keep_secrets;
mod memory_follows_demand;
mod of_memory;
mod of_the_wire;
mod proxies;
