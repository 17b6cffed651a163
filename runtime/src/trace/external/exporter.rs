//! The interface of custom exporters.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::declare::value::OwnedValue;
use crate::record::finished::FinishedSpan;

/// The result of an export. The error is the reason why the spans were lost.
pub(crate) type Exported<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// An exporter supplied by the user. It is called from one task, one call at a time.
///
/// An exporter is user code, which may panic or hang: the caller catches panics and limits the time.
pub(crate) trait ExternalExporter: Send {
    /// Sets the resource, the attributes of the process. Called once, before the first export.
    fn set_resource(&mut self, attributes: &[(String, OwnedValue)], schema_url: Option<&str>);

    /// Exports spans. Retrying is the exporter's responsibility.
    fn export(&mut self, spans: &[FinishedSpan]) -> Exported<'_>;

    /// Exports the spans that the exporter has buffered. May block: call it where blocking does no harm.
    fn flush(&mut self) -> Result<(), String>;

    /// Shuts the exporter down. May block for about `timeout`, or longer if the exporter ignores it.
    fn shutdown(&mut self, timeout: Duration) -> Result<(), String>;
}
