//! What a layer was told.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::baggage::Baggage;
use crate::trust::Policy;

/// Whether the calls of a path are traced.
type Filter = dyn Fn(&str) -> bool + Send + Sync;

#[derive(Clone)]
pub(crate) struct Settings {
    filter: Arc<Filter>,
    /// On a server: a handler that panics answers `INTERNAL`.
    pub(crate) answers_panics: bool,
    /// On a server: how long any call may take, as somebody else sees to.
    pub(crate) timeout: Option<Duration>,
    /// After how long the span of a call is followed by another.
    pub(crate) roll_over: Option<Duration>,
    /// On a server: what is taken over from callers.
    pub(crate) policy: Policy,
    /// On a client: which baggage is sent.
    pub(crate) baggage: Baggage,
    /// On a client: who is called, where requests do not say it.
    pub(crate) server: Option<(Box<str>, u16)>,
}

impl Settings {
    pub(crate) fn set_filter(&mut self, filter: impl Fn(&str) -> bool + Send + Sync + 'static) {
        self.filter = Arc::new(filter);
    }

    pub(crate) fn traces(&self, path: &str) -> bool {
        // A filter is the application's own code; one that panics has not asked for the call to be left out.
        catch_unwind(AssertUnwindSafe(|| (self.filter)(path))).unwrap_or(true)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            filter: Arc::new(is_of_interest),
            answers_panics: false,
            timeout: None,
            roll_over: None,
            policy: Policy::default(),
            baggage: Baggage::default(),
            server: None,
        }
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
            .field("roll_over", &self.roll_over)
            .field("baggage", &self.baggage)
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}
