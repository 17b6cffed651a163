//! Settings of the HTTP layers.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use http::Request;

use super::failure::Errors;
use crate::filter::Filter;
use crate::side::Side;
use crate::trace_layer::{LayerSide, TraceLayer};

type Route = dyn Fn(&Request<()>) -> Option<&str> + Send + Sync;

/// The protocol of the HTTP layers, with their settings.
#[derive(Clone, Default)]
pub struct HttpRequests {
    filter: Filter<Request<()>>,
    /// The timeout for all requests, which other code enforces.
    pub(crate) timeout: Option<Duration>,
    pub(crate) errors: Arc<Errors>,
    /// On a server: the function that returns a request's route.
    pub(crate) route: Option<Arc<Route>>,
    /// On a server: whether it is reached by `https`.
    pub(crate) is_encrypted: bool,
    /// On a server: whether spans have `user_agent.original`.
    pub(crate) shows_user_agent: bool,
}

impl HttpRequests {
    pub(crate) fn traces(&self, request: &Request<()>, side: Side) -> bool {
        let is_taken = self.filter.takes(request);
        is_taken.unwrap_or_else(|| side == Side::Client || is_of_interest(request.uri().path()))
    }

    /// Returns the route that the application's function names; `None` without a function, or if it panics or names
    /// none.
    pub(crate) fn route<'r>(&self, request: &'r Request<()>) -> Option<&'r str> {
        let route = self.route.as_ref()?;
        let found = catch_unwind(AssertUnwindSafe(|| route(request))).unwrap_or(None);
        found.filter(|route| !route.is_empty())
    }
}

/// Returns whether a path is traced by default: health checks and metrics endpoints are not.
fn is_of_interest(path: &str) -> bool {
    !matches!(path, "/health" | "/healthz" | "/livez" | "/readyz" | "/metrics")
}

impl fmt::Debug for HttpRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRequests")
            .field("filter", &self.filter)
            .field("timeout", &self.timeout)
            .field("is_encrypted", &self.is_encrypted)
            .field("shows_user_agent", &self.shows_user_agent)
            .finish_non_exhaustive()
    }
}

/// Methods for HTTP servers and clients.
impl<E: LayerSide> TraceLayer<HttpRequests, E> {
    /// Traces only requests that pass `filter`. A server does not record the other requests: spans inside them are
    /// children of the caller's span. A client sends the other requests unchanged, without a context; so a filter also
    /// keeps contexts from third parties.
    ///
    /// ```
    /// use tracecast_tower::{HttpClientLayer, HttpServerLayer};
    ///
    /// let server = HttpServerLayer::new().with_filter(|request| !request.uri().path().starts_with("/static/"));
    /// let client = HttpClientLayer::new().with_filter(|request| request.uri().host() != Some("partner.example"));
    /// ```
    #[must_use]
    pub fn with_filter(mut self, filter: impl Fn(&Request<()>) -> bool + Send + Sync + 'static) -> Self {
        self.change().protocol.filter.set(filter);
        self
    }

    /// Declares the timeout for response headers that is enforced outside this layer. Such a timeout only drops a
    /// request; with its length, the layer can record the reason. The layer itself ends no request.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tracecast_tower::HttpServerLayer;
    ///
    /// let layer = HttpServerLayer::new().with_timeout(Duration::from_secs(30));
    /// ```
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.change().protocol.timeout = Some(timeout);
        self
    }

    /// Inspects the causes of errors of this type, from the service or its bodies, for `error.type`. Errors of the
    /// standard library, boxed errors, and those of axum, hyper and reqwest with their features are always inspected.
    /// An error of any other type is `_OTHER` unless its type is added here.
    ///
    /// ```
    /// use tracecast_tower::HttpClientLayer;
    ///
    /// #[derive(Debug)]
    /// struct FetchError(std::io::Error);
    /// # impl std::fmt::Display for FetchError {
    /// #     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str("fetch") }
    /// # }
    /// impl std::error::Error for FetchError {
    ///     fn source(&self) -> Option<&(dyn std::error::Error + 'static)> { Some(&self.0) }
    /// }
    ///
    /// let layer = HttpClientLayer::new().with_errors_of::<FetchError>();
    /// ```
    #[must_use]
    pub fn with_errors_of<T: std::error::Error + 'static>(mut self) -> Self {
        Arc::make_mut(&mut self.change().protocol.errors).add::<T>();
        self
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
        let mut settings = HttpRequests::default();
        let traced = |settings: &HttpRequests| {
            ["/healthz", "/health?full=1", "/livez", "/readyz", "/metrics", "/", "/health/of/others", "/v1/healthz"]
                .map(|path| settings.traces(&request(path), Side::Server))
        };
        assert_eq!(traced(&settings), [false, false, false, false, false, true, true, true]);
        settings.filter.set(|_| true);
        assert_eq!(traced(&settings), [true; 8]);
    }

    #[test]
    fn what_panics_is_as_if_it_were_not_there() {
        let mut settings = HttpRequests::default();
        settings.filter.set(|_| panic!("as it was told"));
        settings.route = Some(Arc::new(|_| panic!("as it was told")));
        assert!(settings.traces(&request("/a"), Side::Server));
        assert_eq!(settings.route(&request("/a")), None);
    }
}
