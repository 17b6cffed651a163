//! Calls what the library declares. Tests look at captures; one starts metering, and reads metrics that no other touches.

#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
#![forbid(unsafe_code)]

mod forms;
mod metrics;
