//! Spans and metrics of others beside ours: the OpenTelemetry API and `tracing`. All tests take turns: there is one telemetry
//! in a process.
#![cfg(any(feature = "otel", feature = "tracing"))]

mod telemetry;
#[path = "../support/turn.rs"]
mod turn;

mod nests_in_any_order;
mod otel_api;
mod tracing_layer;
mod tracing_opentelemetry;
