//! Exporters that the program brings along.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::trace::foreign::ForeignExporter;

/// Exporters that the program brings along. They cannot be copied: of a configuration and its clones, the one that starts
/// first gets them.
#[derive(Clone, Default)]
pub(crate) struct PluggedExporters(Arc<Mutex<Vec<Box<dyn ForeignExporter>>>>);

impl PluggedExporters {
    fn lock(&self) -> MutexGuard<'_, Vec<Box<dyn ForeignExporter>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg_attr(not(has_otel), expect(dead_code, reason = "only that feature has exporters to plug in"))]
    pub(crate) fn add(&self, exporter: Box<dyn ForeignExporter>) {
        self.lock().push(exporter);
    }

    pub(crate) fn take(&self) -> Vec<Box<dyn ForeignExporter>> {
        std::mem::take(&mut self.lock())
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }
}

impl fmt::Debug for PluggedExporters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} span exporters", self.len())
    }
}
