//! The client's side.

use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use http::uri::Authority;
use http::{HeaderMap, Request, Response};
use http_body::Body;
use tower_layer::Layer;
use tower_service::Service;
use tracecast::{Context, Span};

use super::body::ResponseBody;
use super::describe;
use super::endpoint::{self, CALLED};
use super::exchange::{Exchange, Subject};
use super::future::ResponseFuture;
use super::method::Verb;
use super::metrics;
use super::protocol::Protocol;
use super::settings::ClientSettings;
use crate::learnt::OTHER;
use crate::origin::Origin;
use crate::place::Place;
use crate::side::Side;

/// Makes a span of each request, below the current one, and sends its context along.
///
/// It goes around any client that is a tower service, as that of hyper-util:
///
/// ```
/// # #[cfg(feature = "hyper")] {
/// use http_body_util::Empty;
/// use hyper_util::client::legacy::Client;
/// use hyper_util::rt::TokioExecutor;
/// use tower_layer::Layer;
/// use tracecast_tower::HttpClientLayer;
///
/// let client = Client::builder(TokioExecutor::new()).build_http::<Empty<bytes::Bytes>>();
/// let client = HttpClientLayer::new()
///     .with_baggage_to(["store.internal", "*.svc.cluster.local"])
///     .layer(client); // `client.call(request)`, or `ServiceExt::oneshot(client, request)`
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct HttpClientLayer {
    settings: Arc<ClientSettings>,
}

impl HttpClientLayer {
    /// Traces all requests. Baggage goes to every server, unless it is restricted.
    ///
    /// ```
    /// use tower_layer::Layer as _;
    /// use tracecast_tower::HttpClientLayer;
    ///
    /// # struct Client;
    /// let traced = HttpClientLayer::new().layer(Client);
    /// ```
    pub fn new() -> Self {
        HttpClientLayer::default()
    }

    /// Traces those requests for which `filter` is true. The others go as they are: no context is sent with them, so it is
    /// for servers that are to know nothing of it, too.
    ///
    /// ```
    /// use tracecast_tower::HttpClientLayer;
    ///
    /// let layer = HttpClientLayer::new().with_filter(|request| request.uri().host() != Some("partner.example"));
    /// ```
    #[must_use]
    pub fn with_filter(mut self, filter: impl Fn(&Request<()>) -> bool + Send + Sync + 'static) -> Self {
        self.change().common.set_filter(filter);
        self
    }

    /// Sends no baggage: for servers of others. By default all of it is sent to everybody, if `OTEL_PROPAGATORS` has `baggage`.
    ///
    /// ```
    /// use tracecast_tower::HttpClientLayer;
    ///
    /// let layer = HttpClientLayer::new().without_baggage();
    /// ```
    #[must_use]
    pub fn without_baggage(mut self) -> Self {
        self.change().baggage.keep_all();
        self
    }

    /// Sends these keys of the baggage only.
    ///
    /// ```
    /// use tracecast_tower::HttpClientLayer;
    ///
    /// let layer = HttpClientLayer::new().with_baggage_keys(["tc.session.id"]);
    /// ```
    #[must_use]
    pub fn with_baggage_keys<'a>(mut self, keys: impl IntoIterator<Item = &'a str>) -> Self {
        self.change().baggage.send_only(keys);
        self
    }

    /// Sends baggage to these servers only: a name, as `store.internal`, or all below a domain, as `*.svc.cluster.local`. Others
    /// get none, also none that was written to the request before. A client that follows redirects goes
    /// around this layer, and not into it: only so each of its requests is looked at.
    ///
    /// ```
    /// use tracecast_tower::HttpClientLayer;
    ///
    /// let layer = HttpClientLayer::new().with_baggage_to(["store.internal", "*.svc.cluster.local"]);
    /// ```
    #[must_use]
    pub fn with_baggage_to<'a>(mut self, hosts: impl IntoIterator<Item = &'a str>) -> Self {
        self.change().baggage.send_to(hosts);
        self
    }

    /// Says which timeout for the headers of a response there is outside of this layer. That only drops what takes too long;
    /// told of it, the layer knows why. It ends no request by itself.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tracecast_tower::HttpClientLayer;
    ///
    /// let layer = HttpClientLayer::new().with_timeout(Duration::from_secs(30));
    /// ```
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.change().common.timeout = Some(timeout);
        self
    }

    /// Looks into errors of this type, of the client or of its bodies, for what they were caused by. Those of the standard
    /// library, boxed ones, and with the feature `hyper` those of hyper and its client, are looked into anyway; others, as
    /// `reqwest::Error`, are `_OTHER` without this.
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
    pub fn with_errors_of<E: std::error::Error + 'static>(mut self) -> Self {
        Arc::make_mut(&mut self.change().common.errors).add::<E>();
        self
    }

    fn change(&mut self) -> &mut ClientSettings {
        Arc::make_mut(&mut self.settings)
    }
}

impl<S> Layer<S> for HttpClientLayer {
    type Service = HttpClient<S>;

    fn layer(&self, inner: S) -> HttpClient<S> {
        HttpClient { inner, settings: self.settings.clone() }
    }
}

/// A client whose requests are spans. Made by [`HttpClientLayer`].
///
/// ```
/// use tower_layer::Layer as _;
/// use tracecast_tower::{HttpClient, HttpClientLayer};
///
/// # struct Client;
/// let traced: HttpClient<Client> = HttpClientLayer::new().layer(Client);
/// ```
#[derive(Clone, Debug)]
pub struct HttpClient<S> {
    inner: S,
    settings: Arc<ClientSettings>,
}

impl<S, A, B> Service<Request<A>> for HttpClient<S>
where
    S: Service<Request<A>, Response = Response<B>>,
    S::Error: 'static,
    A: Body,
    B: Body,
{
    type Response = Response<ResponseBody<B>>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, task: &mut TaskContext<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(task)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let (parts, body) = request.into_parts();
        let mut request = Request::from_parts(parts, ());
        let exchange = begin(&mut request, body.size_hint().exact(), &self.settings);
        ResponseFuture::start(&mut self.inner, request.map(|()| body), exchange)
    }
}

fn begin(request: &mut Request<()>, size: Option<u64>, settings: &ClientSettings) -> Option<Exchange> {
    if settings.common.takes(request) == Some(false) {
        return None;
    }
    let server = describe::authority(request);
    if !Span::is_on() && !metrics::are_on(Side::Client) {
        send(&Context::current(), request.headers_mut(), server.as_ref(), settings);
        return None;
    }
    let verb = Verb::of(request.method());
    let protocol = Protocol::of_scheme(request.uri().scheme());
    let endpoint = server.as_ref().map(|server| CALLED.find(verb.index(), target(server, protocol)));
    let mut span = endpoint::start(Side::Client, verb, endpoint.as_deref(), Origin::default());
    if span.is_recording() {
        describe::request(&mut span, request, verb, size);
        describe::called(&mut span, request, server.as_ref(), protocol);
    }
    let context = if span.is_none() { Context::current() } else { span.context() };
    send(&context, request.headers_mut(), server.as_ref(), settings);
    let place = Place::called(span);
    let (deadline, errors) = (settings.common.deadline(), settings.common.errors.clone());
    Exchange::begin(place, Subject { side: Side::Client, verb, endpoint, is_own: true, protocol, deadline, errors })
}

fn send(context: &Context, headers: &mut HeaderMap, server: Option<&Authority>, settings: &ClientSettings) {
    let is_allowed = settings.baggage.allows(|| server.map(describe::host));
    settings.baggage.inject(context, headers, is_allowed);
}

/// The server, with its port unless that is the one of the scheme. One server has one text.
fn target(server: &Authority, protocol: Protocol) -> &str {
    match server.port() {
        Some(port) if port.as_str().starts_with('0') => OTHER,
        Some(port) if port.as_u16() != protocol.port() => server.as_str().rsplit('@').next().unwrap_or(OTHER),
        _ => server.host(),
    }
}
