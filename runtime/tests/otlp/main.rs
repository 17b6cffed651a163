//! What is encoded as OTLP is read back by a decoder of others. Tests that record take turns.
#![cfg(feature = "otlp")]

#[path = "../support/turn.rs"]
mod turn;

mod kit;
mod logs;
mod metrics;
mod spans;
