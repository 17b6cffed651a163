//! The server's side.

use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use tonic::body::Body;
use tonic::server::NamedService;
use tower_layer::Layer;
use tower_service::Service;
use tracecast::{Context, Span, propagation};

use crate::call::{self, Call, Place};
use crate::headers::HttpHeaders;
use crate::method::SERVED;
use crate::response::ResponseFuture;
use crate::settings::Settings;
use crate::status::{BoxError, Side};

/// Makes a span of each call that is served, below the caller's.
///
/// It goes around a whole server, `Server::builder().layer(GrpcServerLayer::new())`, or around one service.
#[derive(Clone, Debug, Default)]
pub struct GrpcServerLayer {
    settings: Settings,
}

impl GrpcServerLayer {
    /// Traces all calls but health checks and reflection.
    pub fn new() -> Self {
        GrpcServerLayer::default()
    }

    /// Traces the calls of those paths, as `/store.v1.Store/Get`, for which `filter` is true. The others are transparent: the
    /// spans that they cause are children of the caller's.
    #[must_use]
    pub fn with_filter(mut self, filter: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.settings = self.settings.with_filter(filter);
        self
    }

    /// Says which methods there are, by their paths, as `/store.v1.Store/Get`: they have labels of their own on metrics from
    /// the start. Others are learnt when they have answered `OK`.
    #[must_use]
    pub fn with_methods<'a>(self, paths: impl IntoIterator<Item = &'a str>) -> Self {
        paths.into_iter().for_each(|path| SERVED.learn(&SERVED.find(path)));
        self
    }

    /// Says which timeout the server has for all calls, as in `Server::builder().timeout(timeout)`. That is outside of this
    /// layer and only drops what takes too long; told of it, the layer knows why. It ends no call by itself.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = Some(timeout);
        self
    }

    /// Answers `INTERNAL` when a handler panics. Otherwise the panic goes on, which the caller sees as `CANCELLED`.
    #[must_use]
    pub fn with_answered_panics(mut self) -> Self {
        self.settings.answers_panics = true;
        self
    }
}

impl<S> Layer<S> for GrpcServerLayer {
    type Service = GrpcServer<S>;

    fn layer(&self, inner: S) -> GrpcServer<S> {
        GrpcServer { inner, settings: self.settings.clone() }
    }
}

/// A service whose calls are spans. Made by [`GrpcServerLayer`].
#[derive(Clone, Debug)]
pub struct GrpcServer<S> {
    inner: S,
    settings: Settings,
}

impl<S, B> Service<Request<Body>> for GrpcServer<S>
where
    S: Service<Request<Body>, Response = Response<B>>,
    S::Error: 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, task: &mut TaskContext<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(task)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        ResponseFuture::start(&mut self.inner, begin(request, &self.settings), self.settings.answers_panics)
    }
}

impl<S: NamedService> NamedService for GrpcServer<S> {
    const NAME: &'static str = S::NAME;
}

fn begin(request: Request<Body>, settings: &Settings) -> (Request<Body>, Option<Call>) {
    let caller = propagation::extract(&HttpHeaders::from(request.headers()));
    let path = request.uri().path();
    if !settings.traces(path) {
        return (request, Call::at(transparent(caller)));
    }
    let (mut span, method) = call::start(Side::Server, path, Some(&caller));
    if span.is_recording() {
        tell_peer(&mut span, &request);
    }
    let place = if span.is_none() { transparent(caller) } else { Place::Span(span) };
    Call::begin(Side::Server, place, method, request, settings.timeout)
}

/// Without a span of its own, a call is worked on in its caller's context, if that is anything.
fn transparent(caller: Context) -> Place {
    if !caller.is_valid() && caller.baggage_entries().next().is_none() {
        return Place::Unchanged;
    }
    propagation::prepare();
    Place::Context(caller)
}

#[cfg(feature = "transport")]
fn tell_peer(span: &mut Span, request: &Request<Body>) {
    use tonic::transport::server::TcpConnectInfo;
    use tracecast::keys::http::{network_peer_address, network_peer_port};

    if let Some(peer) = request.extensions().get::<TcpConnectInfo>().and_then(TcpConnectInfo::remote_addr) {
        span.set(network_peer_address, tracecast::display(&peer.ip()));
        span.set(network_peer_port, i64::from(peer.port()));
    }
}

#[cfg(not(feature = "transport"))]
fn tell_peer(_: &mut Span, _: &Request<Body>) {}
