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
use crate::export::self_metrics::sdk_names;
use crate::meter::exposition::Form;
use crate::meter::reader::Reader;

pub(crate) use self::negotiate::media_type;
pub(crate) use self::server::{Serve, Server};

/// Chooses the format that an `Accept` header prefers.
pub(crate) fn preferred(accept: &str) -> Form {
    negotiate::preferred(accept.split(','))
}

/// The sources of all metrics since the start, which are rendered as text.
pub(crate) struct Scraped {
    pub(crate) reader: Mutex<Reader>,
    pub(crate) views: Arc<Views>,
    /// True if metrics about telemetry itself are also served under the names of OpenTelemetry's conventions.
    pub(crate) sdk_names: bool,
    /// Raw instruments of OpenTelemetry.
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
        sdk_names::apply(self.sdk_names, &self.views, &mut snapshot);
        #[cfg(has_otel)]
        self.meters.iter().for_each(|meters| snapshot.metrics.extend(meters.scrape(PATIENCE)));
        self.redact.iter().for_each(|redact| redact.metrics(&mut snapshot));
        snapshot.to_scraped(form, resource)
    }
}
