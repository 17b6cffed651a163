//! What a layer was told.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Whether the calls of a path are traced.
type Filter = dyn Fn(&str) -> bool + Send + Sync;

#[derive(Clone)]
pub(crate) struct Settings {
    filter: Arc<Filter>,
    /// On a server: a handler that panics answers `INTERNAL`.
    pub(crate) answers_panics: bool,
    /// On a server: how long any call may take, as somebody else sees to.
    pub(crate) timeout: Option<Duration>,
    /// On a client: baggage is sent.
    pub(crate) sends_baggage: bool,
}

impl Settings {
    pub(crate) fn with_filter(mut self, filter: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.filter = Arc::new(filter);
        self
    }

    pub(crate) fn traces(&self, path: &str) -> bool {
        (self.filter)(path)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings { filter: Arc::new(is_of_interest), answers_panics: false, timeout: None, sends_baggage: true }
    }
}

/// Health checks and reflection are not.
fn is_of_interest(path: &str) -> bool {
    !path.starts_with("/grpc.health.") && !path.starts_with("/grpc.reflection.")
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("answers_panics", &self.answers_panics)
            .field("timeout", &self.timeout)
            .field("sends_baggage", &self.sends_baggage)
            .finish_non_exhaustive()
    }
}
