//! What the layers were told.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Request;

use super::failure::Errors;
use crate::baggage::Baggage;
use crate::deadline::Deadline;
use crate::trust::Policy;

type Filter = dyn Fn(&Request<()>) -> bool + Send + Sync;
type Route = dyn Fn(&Request<()>) -> Option<&str> + Send + Sync;

/// What both layers are told.
#[derive(Clone, Default)]
pub(crate) struct Common {
    filter: Option<Arc<Filter>>,
    /// How long any request may take, as somebody else sees to.
    pub(crate) timeout: Option<Duration>,
    pub(crate) errors: Arc<Errors>,
}

#[derive(Clone, Default)]
pub(crate) struct ServerSettings {
    pub(crate) common: Common,
    route: Option<Arc<Route>>,
    pub(crate) policy: Policy,
    pub(crate) is_encrypted: bool,
    pub(crate) shows_user_agent: bool,
}

#[derive(Clone, Default)]
pub(crate) struct ClientSettings {
    pub(crate) common: Common,
    pub(crate) baggage: Baggage,
}

impl Common {
    pub(crate) fn set_filter(&mut self, filter: impl Fn(&Request<()>) -> bool + Send + Sync + 'static) {
        self.filter = Some(Arc::new(filter));
    }

    /// When a request that begins now will have taken too long.
    pub(crate) fn deadline(&self) -> Option<Deadline> {
        let timeout = self.timeout?;
        Some(Deadline::of(None, Some(timeout), Instant::now()))
    }

    /// Whether the filter takes a request. One that panics has not refused it.
    pub(crate) fn takes(&self, request: &Request<()>) -> Option<bool> {
        let filter = self.filter.as_ref()?;
        Some(catch_unwind(AssertUnwindSafe(|| filter(request))).unwrap_or(true))
    }
}

impl ServerSettings {
    pub(crate) fn set_route(
        &mut self,
        route: impl for<'r> Fn(&'r Request<()>) -> Option<&'r str> + Send + Sync + 'static,
    ) {
        self.route = Some(Arc::new(route));
    }

    pub(crate) fn traces(&self, request: &Request<()>) -> bool {
        self.common.takes(request).unwrap_or_else(|| is_of_interest(request.uri().path()))
    }

    /// The route that the application names. A function that panics knows none.
    pub(crate) fn route<'r>(&self, request: &'r Request<()>) -> Option<&'r str> {
        let route = self.route.as_ref()?;
        let found = catch_unwind(AssertUnwindSafe(|| route(request))).unwrap_or(None);
        found.filter(|route| !route.is_empty())
    }
}

/// Those that look whether a service is well, and read its metrics, are not.
fn is_of_interest(path: &str) -> bool {
    !matches!(path, "/health" | "/healthz" | "/livez" | "/readyz" | "/metrics")
}

impl fmt::Debug for ServerSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerSettings")
            .field("timeout", &self.common.timeout)
            .field("is_encrypted", &self.is_encrypted)
            .field("shows_user_agent", &self.shows_user_agent)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ClientSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientSettings")
            .field("timeout", &self.common.timeout)
            .field("baggage", &self.baggage)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str) -> Request<()> {
        Request::builder().uri(path).body(()).unwrap()
    }

    #[test]
    fn health_checks_are_of_no_interest_unless_they_are_asked_for() {
        let mut settings = ServerSettings::default();
        let traced = |settings: &ServerSettings| {
            ["/healthz", "/health?full=1", "/livez", "/readyz", "/metrics", "/", "/health/of/others", "/v1/healthz"]
                .map(|path| settings.traces(&request(path)))
        };
        assert_eq!(traced(&settings), [false, false, false, false, false, true, true, true]);
        settings.common.set_filter(|_| true);
        assert_eq!(traced(&settings), [true; 8]);
    }

    #[test]
    fn what_panics_is_as_if_it_were_not_there() {
        let mut settings = ServerSettings::default();
        settings.common.set_filter(|_| panic!("as it was told"));
        settings.set_route(|_| panic!("as it was told"));
        assert!(settings.traces(&request("/a")));
        assert_eq!(settings.route(&request("/a")), None);
    }
}
