//! What recordings hold. There is one recording in a process, and its counts are the process's, so all tests take turns.

#[path = "../support/turn.rs"]
mod turn;

mod filters;
mod limits;
mod propagation;
mod sampling;
mod threads;
pub mod user_code;
