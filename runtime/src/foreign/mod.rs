//! Spans that are not ours, on their way out: those of the OpenTelemetry API, of `tracing`, of whatever comes next.
//!
//! They are owned data and know nothing of the API that made them. Ended, they wait in a bounded queue for the collector.
//! Whoever makes them pays for what they hold, a few allocations; our own spans do not come this way.

mod begin;
mod exporter;
mod queue;
mod span;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use self::begin::begin;
pub(crate) use self::exporter::{Exported, ForeignExporter};
pub(crate) use self::queue::{Counts, Queue, counts, ended, is_on, lock, off_after_fork, pause, start, stop, take};
pub(crate) use self::span::{ForeignEvent, ForeignLink, ForeignScope, ForeignSpan, ForeignStatus, Named};
#[cfg(all(test, feature = "otel", not(loom)))]
pub(crate) use self::tests::{Random, scopes as test_scopes};
