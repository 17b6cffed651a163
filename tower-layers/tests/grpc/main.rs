//! The layers for gRPC. Tests share one process and run one after the other.

mod captured;
mod commands;
mod compose;
mod context;
mod conventions;
mod endings;
mod errors_reach_every_client;
mod long_streams;
mod metrics;
#[path = "../support/mod.rs"]
mod support;
mod trust;
