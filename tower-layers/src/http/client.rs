//! The layer for HTTP clients.

use std::task::{Context as TaskContext, Poll};

use http::uri::Authority;
use http::{HeaderMap, Request, Response};
use http_body::Body;
use tower_service::Service;
use tracecast::{Context, Span};

use super::describe;
use super::endpoint::{self, ENDPOINTS};
use super::exchange::{Exchange, Subject};
use super::method::Verb;
use super::metrics;
use super::protocol::Protocol;
use super::response::{ResponseBody, ResponseFuture};
use super::settings::HttpRequests;
use crate::first_byte::FirstByte;
use crate::learnt::OTHER;
use crate::origin::Origin;
use crate::place::Place;
use crate::side::Side;
use crate::trace_layer::{ClientSide, Settings, TraceLayer, Traced};

/// Records a span per request, below the current one, and sends its context along.
///
/// Put it around any client that is a tower service, such as hyper-util's:
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
///
/// With the feature `reqwest` it is also middleware for `reqwest-middleware`. Redirects happen inside the client: they
/// are one span, with the URL of the first request. Put middleware that retries before this one, so that each attempt
/// has a span.
///
/// ```
/// # #[cfg(feature = "reqwest")] {
/// use reqwest_middleware::ClientBuilder;
/// use tracecast_tower::HttpClientLayer;
///
/// let client = ClientBuilder::new(reqwest::Client::new()).with(HttpClientLayer::new()).build();
/// let request = client.get("http://store.internal/items/7"); // `.send().await?.text().await?`
/// # }
/// ```
pub type HttpClientLayer = TraceLayer<HttpRequests, ClientSide>;

/// A client with a span per request. Made by [`HttpClientLayer`].
///
/// ```
/// use tower_layer::Layer as _;
/// use tracecast_tower::{HttpClient, HttpClientLayer};
///
/// # struct Client;
/// let traced: HttpClient<Client> = HttpClientLayer::new().layer(Client);
/// ```
pub type HttpClient<S> = Traced<S, HttpRequests, ClientSide>;

impl<S, A, B> Service<Request<A>> for Traced<S, HttpRequests, ClientSide>
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

pub(super) fn begin(
    request: &mut Request<()>,
    size: Option<u64>,
    settings: &Settings<HttpRequests, ClientSide>,
) -> Option<Exchange> {
    if !settings.protocol.traces(request, Side::Client) {
        return None;
    }
    let server = describe::authority(request);
    if !Span::is_on() && !metrics::are_on(Side::Client) {
        send(&Context::current(), request.headers_mut(), server.as_ref(), settings);
        return None;
    }
    let verb = Verb::of(request.method());
    let protocol = Protocol::of_scheme(request.uri().scheme());
    let endpoints = ENDPOINTS.of(Side::Client);
    let endpoint = server.as_ref().map(|server| endpoints.find(verb.index(), target(server, protocol)));
    let mut span = endpoint::start(Side::Client, verb, endpoint.as_deref(), Origin::default());
    span.add_all(|span| {
        describe::request(span, request, verb, size);
        describe::called(span, request, server.as_ref(), protocol);
    });
    let context = if span.is_none() { Context::current() } else { span.context() };
    send(&context, request.headers_mut(), server.as_ref(), settings);
    let place = Place::called(span);
    let (timeout, errors) = (settings.protocol.timeout, settings.protocol.errors.clone());
    let first_byte = FirstByte::new(settings.times_first_byte);
    Exchange::begin(
        place,
        Subject { side: Side::Client, verb, endpoint, is_own: true, protocol, timeout, errors, first_byte },
    )
}

fn send(
    context: &Context,
    headers: &mut HeaderMap,
    server: Option<&Authority>,
    settings: &Settings<HttpRequests, ClientSide>,
) {
    let is_allowed = settings.side.baggage.allows(|| server.map(describe::host));
    settings.side.baggage.inject(context, headers, is_allowed);
}

/// Returns the server, with its port unless the port is the scheme's default. A port with a leading zero gives
/// `_OTHER`, so that each server has one text.
fn target(server: &Authority, protocol: Protocol) -> &str {
    match server.port() {
        Some(port) if port.as_str().starts_with('0') => OTHER,
        Some(port) if port.as_u16() != protocol.port() => server.as_str().rsplit('@').next().unwrap_or(OTHER),
        _ => server.host(),
    }
}
