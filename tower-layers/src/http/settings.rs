//! What the layers for HTTP were told.

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

/// The protocol of layers for HTTP. It holds what only its layers are told.
#[derive(Clone, Default)]
pub struct HttpRequests {
    filter: Filter<Request<()>>,
    /// How long any request may take, as somebody else sees to.
    pub(crate) timeout: Option<Duration>,
    pub(crate) errors: Arc<Errors>,
    /// On a server.
    pub(crate) route: Option<Arc<Route>>,
    /// On a server.
    pub(crate) is_encrypted: bool,
    /// On a server.
    pub(crate) shows_user_agent: bool,
}

impl HttpRequests {
    pub(crate) fn traces(&self, request: &Request<()>, side: Side) -> bool {
        let is_taken = self.filter.takes(request);
        is_taken.unwrap_or_else(|| side == Side::Client || is_of_interest(request.uri().path()))
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

/// For servers and clients of HTTP.
impl<E: LayerSide> TraceLayer<HttpRequests, E> {
    /// Traces those requests for which `filter` is true. On a server the others are transparent: the spans that they cause are
    /// children of the caller's. Those of a client go as they are: no context is sent with them, so it is for servers that are to
    /// know nothing of it, too.
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

    /// Says which timeout for the headers of a response there is outside of this layer. That only drops what takes too long;
    /// told of it, the layer knows why. It ends no request by itself.
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

    /// Looks into errors of this type, of the service or of its bodies, for what they were caused by. Those of the standard
    /// library, boxed ones, and with the features `axum`, `hyper` and `reqwest` theirs, are looked into anyway; others are `_OTHER`
    /// without this.
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
