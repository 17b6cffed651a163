//! What brings spans out by other ways than ours.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::declare::value::OwnedValue;
use crate::record::finished::FinishedSpan;

/// What became of the spans that were handed over; an error says why they are lost.
pub(crate) type Exported<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// An exporter that somebody else wrote. Called from one task, one call after the other.
///
/// Its code is the user's: it may panic and it may hang, so whoever calls it catches the one and limits the other.
pub(crate) trait ExternalExporter: Send {
    /// Says what describes the process. Called once, before anything is exported.
    fn set_resource(&mut self, attributes: &[(String, OwnedValue)], schema_url: Option<&str>);

    /// Brings spans out. Trying again is the exporter's own affair.
    fn export(&mut self, spans: &[FinishedSpan]) -> Exported<'_>;

    /// Has it bring out what it still holds. It may block: to be called where that does no harm.
    fn flush(&mut self) -> Result<(), String>;

    /// Ends it. It may block for up to about `timeout`, as far as it keeps to that.
    fn shutdown(&mut self, timeout: Duration) -> Result<(), String>;
}
