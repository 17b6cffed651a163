//! Custom exporters: span exporters that the program provides.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::trace::external::ExternalExporter;

/// Span exporters that the program provides. They cannot be cloned: clones of a configuration share them, and the first
/// clone that starts telemetry takes them.
#[derive(Clone, Default)]
pub(crate) struct CustomExporters(Arc<Mutex<Vec<Box<dyn ExternalExporter>>>>);

impl CustomExporters {
    fn lock(&self) -> MutexGuard<'_, Vec<Box<dyn ExternalExporter>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg_attr(not(has_otel), expect(dead_code, reason = "only the feature `otel` has custom exporters"))]
    pub(crate) fn add(&self, exporter: Box<dyn ExternalExporter>) {
        self.lock().push(exporter);
    }

    pub(crate) fn take(&self) -> Vec<Box<dyn ExternalExporter>> {
        std::mem::take(&mut self.lock())
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }
}

impl fmt::Debug for CustomExporters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} span exporters", self.len())
    }
}
