//! Metrics for scrapers: their text, and a small server for it.
//!
//! The server runs on the export thread. Everything that a client can influence is bounded: connections, bytes of a
//! request, time. Texts are rendered on another thread, one at a time, so a scrape never delays an export.

mod negotiate;
mod server;

use std::sync::{Arc, Mutex, PoisonError};

use crate::config::redact::Redact;
use crate::declare::value::OwnedValue;
use crate::encode::views::Views;
use crate::meter::exposition::Form;
use crate::meter::reader::Reader;

pub(crate) use self::server::{Serve, Server};

/// All metrics since the start, for rendering as text.
pub(crate) struct Scraped {
    pub(crate) reader: Mutex<Reader>,
    pub(crate) views: Arc<Views>,
    /// Raw OpenTelemetry instruments.
    #[cfg(has_otel)]
    pub(crate) meters: Option<Arc<crate::interop::otel::metrics::Meters>>,
    pub(crate) redact: Option<Redact>,
}

/// The time limit of callbacks of raw instruments.
#[cfg(has_otel)]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);

impl Scraped {
    /// Reads and renders all metrics. Blocks for their callbacks, within bounds. `resource` has the attributes of the
    /// process, as they are sent.
    pub(crate) fn render(&self, form: Form, resource: &[(String, OwnedValue)]) -> String {
        let mut snapshot = self.reader.lock().unwrap_or_else(PoisonError::into_inner).snapshot();
        self.views.apply(&mut snapshot);
        #[cfg(has_otel)]
        self.meters.iter().for_each(|meters| snapshot.metrics.extend(meters.scrape(PATIENCE)));
        self.redact.iter().for_each(|redact| redact.metrics(&mut snapshot));
        snapshot.to_scraped(form, resource)
    }
}
