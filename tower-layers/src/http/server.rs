//! The layer for HTTP servers.

use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use http::{Request, Response};
use http_body::Body;
use tower_service::Service;
use tracecast::__layers::is_active;
use tracecast::Span;

use super::describe;
use super::endpoint::{self, ENDPOINTS};
use super::exchange::{Exchange, Subject};
use super::method::Verb;
use super::metrics;
use super::protocol::Protocol;
use super::response::{ResponseBody, ResponseFuture};
use super::settings::HttpRequests;
use crate::first_byte::FirstByte;
use crate::headers::{self, Carried};
use crate::origin::Origin;
use crate::place::Place;
use crate::side::Side;
use crate::trace_layer::{ServerSide, Settings, TraceLayer, Traced};
use crate::trust::Caller;

/// Records a span per served request, below the caller's span.
///
/// With axum, apply it inside the router, which provides the route (feature `axum`):
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
/// Around any other service, give it the route:
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
pub type HttpServerLayer = TraceLayer<HttpRequests, ServerSide>;

/// Methods for HTTP servers.
impl TraceLayer<HttpRequests, ServerSide> {
    /// Sets a function that returns the template of a request's route: `/items/{id}`. The template names the span and
    /// is a label of metrics, so it must not be the path. If the function returns `None`, axum's route is used (feature
    /// `axum`), or none.
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
        self.change().protocol.route = Some(Arc::new(route));
        self
    }

    /// Declares that the server is reached by `https`, which a request does not show.
    ///
    /// ```
    /// use tracecast_tower::HttpServerLayer;
    ///
    /// let layer = HttpServerLayer::new().with_tls();
    /// ```
    #[must_use]
    pub fn with_tls(mut self) -> Self {
        self.change().protocol.is_encrypted = true;
        self
    }

    /// Records the caller's `user-agent` header as `user_agent.original`.
    ///
    /// ```
    /// use tracecast_tower::HttpServerLayer;
    ///
    /// let layer = HttpServerLayer::new().with_user_agent();
    /// ```
    #[must_use]
    pub fn with_user_agent(mut self) -> Self {
        self.change().protocol.shows_user_agent = true;
        self
    }
}

/// A service with a span per request. Made by [`HttpServerLayer`].
///
/// ```
/// use tower_layer::Layer as _;
/// use tracecast_tower::{HttpServer, HttpServerLayer};
///
/// # struct App;
/// let traced: HttpServer<App> = HttpServerLayer::new().layer(App);
/// ```
pub type HttpServer<S> = Traced<S, HttpRequests, ServerSide>;

impl<S, A, B> Service<Request<A>> for Traced<S, HttpRequests, ServerSide>
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

    #[inline]
    fn call(&mut self, request: Request<A>) -> Self::Future {
        let is_on = is_on();
        if !is_on && !headers::may_carry(request.headers()) {
            return ResponseFuture::plain(self.inner.call(request));
        }
        self.call_traced(request, is_on)
    }
}

impl<S> Traced<S, HttpRequests, ServerSide> {
    /// Separate from `call`, so that with telemetry off no registers are saved and nothing is moved for it.
    #[inline(never)]
    fn call_traced<A: Body>(&mut self, request: Request<A>, is_on: bool) -> ResponseFuture<S::Future>
    where
        S: Service<Request<A>>,
    {
        let caller = self.settings.side.policy.caller(&request, &Carried::of(request.headers()));
        let (parts, body) = request.into_parts();
        let request = Request::from_parts(parts, ());
        let exchange = begin(&request, body.size_hint().exact(), &self.settings, is_on, caller);
        ResponseFuture::start(&mut self.inner, request.map(|()| body), exchange)
    }
}

#[inline]
fn is_on() -> bool {
    is_active() && (Span::is_on() || metrics::are_on(Side::Server))
}

fn begin(
    request: &Request<()>,
    size: Option<u64>,
    settings: &Settings<HttpRequests, ServerSide>,
    is_on: bool,
    caller: Caller,
) -> Option<Exchange> {
    let Settings { protocol: http, side: ServerSide { policy }, times_first_byte } = settings;
    if !is_on || !http.traces(request, Side::Server) {
        return Exchange::at(Place::transparent(caller.parent), Side::Server);
    }
    let verb = Verb::of(request.method());
    let (route, is_own) = route(request, http);
    let endpoint = route.map(|route| ENDPOINTS.of(Side::Server).find(verb.index(), route));
    let protocol = if http.is_encrypted { Protocol::new(true) } else { Protocol::of_scheme(request.uri().scheme()) };
    let protocol = protocol.with_version(request.version());
    let sampler = policy.sampler(route.unwrap_or(request.uri().path()));
    let origin = Origin { parent: Some(&caller.parent), link: caller.link.as_deref(), sampler };
    let mut span = endpoint::start(Side::Server, verb, endpoint.as_deref(), origin);
    span.add_all(|span| {
        describe::request(span, request, verb, size);
        describe::served(span, request, route, protocol);
        if http.shows_user_agent {
            describe::user_agent(span, request);
        }
    });
    let place = Place::served(span, caller.parent);
    let (timeout, errors) = (http.timeout, http.errors.clone());
    let first_byte = FirstByte::new(*times_first_byte);
    Exchange::begin(
        place,
        Subject { side: Side::Server, verb, endpoint, is_own, protocol, timeout, errors, first_byte },
    )
}

/// Returns the route's template, if there is one, and whether it is the router's, which exists even if the answer is
/// 404.
fn route<'r>(request: &'r Request<()>, http: &HttpRequests) -> (Option<&'r str>, bool) {
    match http.route(request) {
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
