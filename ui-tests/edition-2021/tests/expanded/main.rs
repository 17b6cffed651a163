//! Calls what the library declares. Tests look at captures; one starts metering, and reads metrics that no other touches.

#![deny(warnings)]

mod forms;
mod metrics;
