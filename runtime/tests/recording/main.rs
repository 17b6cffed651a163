//! What recordings hold. There is one recording in a process, and its counts are the process's, so all tests take turns.

#[cfg(all(unix, not(miri)))]
#[path = "../support/child.rs"]
mod child;
#[path = "../support/turn.rs"]
mod turn;

mod filters;
#[cfg(all(unix, not(miri)))]
mod forked_child;
mod limits;
mod lists;
mod propagation;
mod sampling;
mod threads;
pub mod user_code;
