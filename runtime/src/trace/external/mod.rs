//! Spans of third parties, on their way out: those of the OpenTelemetry API, of `tracing`, of whatever comes next.
//!
//! They are the same owned data as our own, with a scope, and know nothing of the API that made them. Ended spans wait in a
//! bounded queue for the export thread.
//! Whoever makes them pays for what they hold, a few allocations; our own spans do not come this way.

#[cfg(any(has_otel, has_tracing))]
mod begin;
mod exporter;
#[cfg(any(has_otel, has_tracing))]
mod fill;
mod queue;
#[cfg(all(test, any(has_otel, has_tracing)))]
mod tests;

#[cfg(any(has_otel, has_tracing))]
pub(crate) use self::begin::begin;
#[cfg(has_otel)]
pub(crate) use self::exporter::Exported;
pub(crate) use self::exporter::ExternalExporter;
pub(crate) use self::queue::{Counts, Queue, counts, lock, off_after_fork, pause, start, stop, take};
#[cfg(any(has_otel, has_tracing))]
pub(crate) use self::queue::{ended, is_on};
#[cfg(all(test, has_otel))]
pub(crate) use self::tests::{Random, scopes as test_scopes};
