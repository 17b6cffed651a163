//! The server's side.

use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use http::{Request, Response};
use http_body::Body;
use tower_layer::Layer;
use tower_service::Service;
use tracecast::{Key, KeyOf, Sampler, Span};

use super::body::ResponseBody;
use super::describe;
use super::endpoint::{self, SERVED};
use super::exchange::{Exchange, Subject};
use super::future::ResponseFuture;
use super::method::Verb;
use super::metrics;
use super::protocol::Protocol;
use super::settings::ServerSettings;
use crate::headers;
use crate::origin::Origin;
use crate::place::Place;
use crate::side::Side;
use crate::trust::Peer;

/// Makes a span of each request that is served, below the caller's.
///
/// With axum it goes inside of the router, which then says which route it is (feature `axum`):
///
/// ```
/// # #[cfg(feature = "axum")] {
/// use axum::Router;
/// use axum::routing::get;
/// use tracecast_tower::HttpServerLayer;
///
/// let router: Router = Router::new()
///     .route("/items/{id}", get(async || "an item"))
///     .layer(HttpServerLayer::new());
/// # }
/// ```
///
/// Around any other service it is told:
///
/// ```
/// use std::convert::Infallible;
/// use http::{Request, Response};
/// use tower_layer::Layer;
/// use tracecast_tower::HttpServerLayer;
///
/// # #[derive(Clone)] struct App;
/// # impl tower_service::Service<Request<String>> for App {
/// #     type Response = Response<String>;
/// #     type Error = Infallible;
/// #     type Future = std::future::Ready<Result<Response<String>, Infallible>>;
/// #     fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Infallible>> { Ok(()).into() }
/// #     fn call(&mut self, _: Request<String>) -> Self::Future { std::future::ready(Ok(Response::new(String::new()))) }
/// # }
/// let layer = HttpServerLayer::new().with_route(|request| match request.uri().path() {
///     "/items" => Some("/items"),
///     path if path.starts_with("/items/") => Some("/items/{id}"),
///     _ => None,
/// });
/// let service = layer.layer(App); // for hyper: `TowerToHyperService::new(service)`
/// ```
#[derive(Clone, Debug, Default)]
pub struct HttpServerLayer {
    settings: Arc<ServerSettings>,
}

impl HttpServerLayer {
    /// Traces all requests but those for `/health`, `/healthz`, `/livez`, `/readyz` and `/metrics`.
    ///
    /// ```
    /// use tower_layer::Layer as _;
    /// use tracecast_tower::HttpServerLayer;
    ///
    /// # struct App;
    /// let traced = HttpServerLayer::new().layer(App);
    /// ```
    pub fn new() -> Self {
        HttpServerLayer::default()
    }

    /// Traces those requests for which `filter` is true. The others are transparent: the spans that they cause are children
    /// of the caller's.
    ///
    /// ```
    /// use tracecast_tower::HttpServerLayer;
    ///
    /// let layer = HttpServerLayer::new().with_filter(|request| !request.uri().path().starts_with("/static/"));
    /// ```
    #[must_use]
    pub fn with_filter(mut self, filter: impl Fn(&Request<()>) -> bool + Send + Sync + 'static) -> Self {
        self.change().common.set_filter(filter);
        self
    }

    /// Says which route a request is for, by its template: `/items/{id}`. It names the span and is a label of metrics, so it
    /// must not be the path. Where it is not known, axum's own is taken (feature `axum`), and else there is none.
    ///
    /// ```
    /// use tracecast_tower::HttpServerLayer;
    ///
    /// let layer = HttpServerLayer::new()
    ///     .with_route(|request| request.uri().path().starts_with("/items/").then_some("/items/{id}"));
    /// ```
    #[must_use]
    pub fn with_route(
        mut self,
        route: impl for<'r> Fn(&'r Request<()>) -> Option<&'r str> + Send + Sync + 'static,
    ) -> Self {
        self.change().set_route(route);
        self
    }

    /// Takes the context of those callers for which `trusts` is true. A request of any other begins a trace of its own, which
    /// has a link to the caller's span; neither the caller's baggage, nor its decision to sample, nor its `tracestate`
    /// goes on. Without this all callers are trusted.
    ///
    /// ```
    /// use tracecast_tower::HttpServerLayer;
    ///
    /// let layer = HttpServerLayer::new()
    ///     .with_trust(|peer| peer.address().is_some_and(|address| address.ip().is_loopback()));
    /// ```
    #[must_use]
    pub fn with_trust(mut self, trusts: impl Fn(&Peer<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.change().policy.set_trust(trusts);
        self
    }

    /// Has spans below carry what a trusted caller's baggage says under the name of this key, as an attribute. Keys that
    /// are not named so stay in the baggage alone.
    ///
    /// ```
    /// use tracecast_tower::HttpServerLayer;
    ///
    /// mod keys {
    ///     tracecast::tc_keys! {
    ///         /// The session of a user.
    ///         pub id session: str = "tc.session.id";
    ///     }
    /// }
    ///
    /// let layer = HttpServerLayer::new().with_shared_baggage(keys::session);
    /// ```
    #[must_use]
    pub fn with_shared_baggage<K: Key<Value = str>>(mut self, key: fn() -> KeyOf<K>) -> Self {
        self.change().policy.share_baggage(key);
        self
    }

    /// Has this sampler decide about traces that begin with a request for this route, in place of the process's; where the
    /// route is not known, the path counts. A `*` at the end stands for anything; of several that fit, the first decides. A
    /// trusted caller has decided already.
    ///
    /// ```
    /// use tracecast::Sampler;
    /// use tracecast_tower::HttpServerLayer;
    ///
    /// let layer = HttpServerLayer::new()
    ///     .with_sampler("/items/{id}", Sampler::Ratio(0.01))
    ///     .with_sampler("/static/*", Sampler::AlwaysOff);
    /// ```
    #[must_use]
    pub fn with_sampler(mut self, route: &str, sampler: Sampler) -> Self {
        self.change().policy.add_sampler(route, sampler);
        self
    }

    /// Says that the server is reached by `https`, which nothing in a request tells.
    ///
    /// ```
    /// use tracecast_tower::HttpServerLayer;
    ///
    /// let layer = HttpServerLayer::new().with_tls();
    /// ```
    #[must_use]
    pub fn with_tls(mut self) -> Self {
        self.change().is_encrypted = true;
        self
    }

    /// Has spans say what the caller says it is, as `user_agent.original`.
    ///
    /// ```
    /// use tracecast_tower::HttpServerLayer;
    ///
    /// let layer = HttpServerLayer::new().with_user_agent();
    /// ```
    #[must_use]
    pub fn with_user_agent(mut self) -> Self {
        self.change().shows_user_agent = true;
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
        self.change().common.timeout = Some(timeout);
        self
    }

    /// Looks into errors of this type, of the service or of its bodies, for what they were caused by. Those of the standard
    /// library, boxed ones, and with the features `axum` and `hyper` theirs, are looked into anyway.
    ///
    /// ```
    /// use tracecast_tower::HttpServerLayer;
    ///
    /// let layer = HttpServerLayer::new().with_errors_of::<tonic::Status>();
    /// ```
    #[must_use]
    pub fn with_errors_of<E: std::error::Error + 'static>(mut self) -> Self {
        Arc::make_mut(&mut self.change().common.errors).add::<E>();
        self
    }

    fn change(&mut self) -> &mut ServerSettings {
        Arc::make_mut(&mut self.settings)
    }
}

impl<S> Layer<S> for HttpServerLayer {
    type Service = HttpServer<S>;

    fn layer(&self, inner: S) -> HttpServer<S> {
        HttpServer { inner, settings: self.settings.clone() }
    }
}

/// A service whose requests are spans. Made by [`HttpServerLayer`].
///
/// ```
/// use tower_layer::Layer as _;
/// use tracecast_tower::{HttpServer, HttpServerLayer};
///
/// # struct App;
/// let traced: HttpServer<App> = HttpServerLayer::new().layer(App);
/// ```
#[derive(Clone, Debug)]
pub struct HttpServer<S> {
    inner: S,
    settings: Arc<ServerSettings>,
}

impl<S, A, B> Service<Request<A>> for HttpServer<S>
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
        if !is_on() && !headers::may_carry(request.headers()) {
            return ResponseFuture::start(&mut self.inner, request, None);
        }
        let (parts, body) = request.into_parts();
        let request = Request::from_parts(parts, ());
        let exchange = begin(&request, body.size_hint().exact(), &self.settings);
        ResponseFuture::start(&mut self.inner, request.map(|()| body), exchange)
    }
}

fn is_on() -> bool {
    Span::is_on() || metrics::are_on(Side::Server)
}

fn begin(request: &Request<()>, size: Option<u64>, settings: &ServerSettings) -> Option<Exchange> {
    let caller = settings.policy.caller(request);
    if !is_on() || !settings.traces(request) {
        return Exchange::at(Place::transparent(caller.parent));
    }
    let verb = Verb::of(request.method());
    let (route, is_own) = route(request, settings);
    let endpoint = route.map(|route| SERVED.find(verb.index(), route));
    let protocol =
        if settings.is_encrypted { Protocol::new(true) } else { Protocol::of_scheme(request.uri().scheme()) };
    let protocol = protocol.with_version(request.version());
    let sampler = settings.policy.sampler(route.unwrap_or(request.uri().path()));
    let origin = Origin { parent: Some(&caller.parent), link: caller.link.as_deref(), sampler };
    let mut span = endpoint::start(Side::Server, verb, endpoint.as_deref(), origin);
    if span.is_recording() {
        describe::request(&mut span, request, verb, size);
        describe::served(&mut span, request, route, protocol);
        if settings.shows_user_agent {
            describe::user_agent(&mut span, request);
        }
    }
    let place = Place::served(span, caller.parent);
    let (deadline, errors) = (settings.common.deadline(), settings.common.errors.clone());
    Exchange::begin(place, Subject { side: Side::Server, verb, endpoint, is_own, protocol, deadline, errors })
}

/// The template, and whether it is one whatever is answered.
fn route<'r>(request: &'r Request<()>, settings: &ServerSettings) -> (Option<&'r str>, bool) {
    match settings.route(request) {
        Some(told) => (Some(told), false),
        None => (matched(request), true),
    }
}

#[cfg(feature = "axum")]
fn matched(request: &Request<()>) -> Option<&str> {
    request.extensions().get::<axum::extract::MatchedPath>().map(axum::extract::MatchedPath::as_str)
}

#[cfg(not(feature = "axum"))]
fn matched(_: &Request<()>) -> Option<&str> {
    None
}
