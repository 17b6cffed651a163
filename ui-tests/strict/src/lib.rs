//! Every form of every macro under the strictest lints there are, and proofs that the user's own lints stay alive.

#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
#![forbid(unsafe_code)]

pub mod declarations;
pub mod functions;
pub mod futures_and_streams;
pub mod lints;
pub mod lints_of_clippy;
pub mod lints_of_metrics;
pub mod methods;
pub mod metrics;
#[cfg(twins)]
pub mod twins;
