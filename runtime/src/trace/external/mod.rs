//! External spans: spans recorded through another API (OpenTelemetry, `tracing`), on their way to the export thread.
//!
//! External spans are owned data like our own finished spans, with a scope, and independent of the API that created them. Ended
//! ones wait in a bounded queue for the export thread. An external span costs a few allocations; our own spans do not take this
//! path.

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
