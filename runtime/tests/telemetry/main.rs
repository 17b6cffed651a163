//! From init to the wire and back. There is one telemetry in a process: tests that start it take turns, or start a program of
//! their own.
#![cfg(all(feature = "otlp", not(miri)))]

#[path = "../support/child.rs"]
mod child;
#[path = "../support/turn.rs"]
mod turn;

mod about_itself;
mod changes_while_it_runs;
mod logs_and_prometheus;
mod open_spans_at_the_end;
mod otel_span_exporter;
mod otel_through_init;
mod passes_contexts_on;
mod reaches_a_receiver;
mod scraped;
mod stalls;
mod starts_and_ends;
mod through_a_handle;
mod under_each_runtime;
mod waits_on_disk;
