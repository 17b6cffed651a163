//! Spans and metrics of others beside ours: the OpenTelemetry API and `tracing`. All tests take turns: there is one telemetry
//! in a process.
#![cfg(any(feature = "otel", feature = "tracing"))]

#[cfg(not(miri))]
#[path = "../support/child.rs"]
mod child;
mod telemetry;
#[path = "../support/turn.rs"]
mod turn;

mod emitted;
mod nests_in_any_order;
mod otel_api;
#[cfg(not(miri))]
mod parents_set_by_others;
mod tracing_layer;
mod tracing_opentelemetry;
