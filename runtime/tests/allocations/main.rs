//! What is allocated, and what is not. The allocator of this program counts for each thread, so it is a program of its own.

#[path = "../support/counting.rs"]
mod counting;
#[path = "../support/turn.rs"]
mod turn;

mod encoding;
mod metrics;
mod recording;
