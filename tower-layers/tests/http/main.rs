//! The layers for HTTP. Tests share one process and run one after the other.

mod attributes;
mod captured;
mod compose;
mod context;
mod endings;
mod metrics;
#[path = "../support/mod.rs"]
mod support;
mod with_reqwest;
