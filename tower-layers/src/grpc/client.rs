//! The layer for gRPC clients.

use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use bytes::Bytes;
use http::{Request, Response};
use tonic::body::Body;
use tower_service::Service;
use tracecast::__layers::conventions;
use tracecast::{Context, Span};

use crate::ends::Ends;
use crate::failed::BoxError;
use crate::first_byte::FirstByte;
use crate::grpc::call::{Call, Extras};
use crate::grpc::deadline::{self, Deadline};
use crate::grpc::method::METHODS;
use crate::grpc::metrics;
use crate::grpc::response::ResponseFuture;
use crate::grpc::segment::Segments;
use crate::grpc::servers::{self, Server};
use crate::grpc::settings::GrpcCalls;
use crate::grpc::start;
use crate::origin::Origin;
use crate::place::Place;
use crate::side::Side;
use crate::trace_layer::{ClientSide, Settings, TraceLayer, Traced};

/// Records a span per call, below the current one, and sends its context along.
///
/// ```no_run
/// use tonic::transport::Channel;
/// use tower_layer::Layer as _;
/// use tracecast_tower::GrpcClientLayer;
///
/// let channel = Channel::from_static("http://[::1]:50051").connect_lazy();
/// let channel = GrpcClientLayer::new().with_server("store", 50051).layer(channel); // `StoreClient::new(channel)`
/// ```
pub type GrpcClientLayer = TraceLayer<GrpcCalls, ClientSide>;

/// Methods for gRPC clients.
impl TraceLayer<GrpcCalls, ClientSide> {
    /// Sets the server's name for `server.address` and `server.port` on spans and on `rpc.client.call.duration`. A
    /// layer around a tonic channel cannot read the channel's server. If a request names its server, that name is used.
    ///
    /// ```
    /// use tracecast_tower::GrpcClientLayer;
    ///
    /// let layer = GrpcClientLayer::new().with_server("store.example", 50051);
    /// ```
    #[must_use]
    pub fn with_server(mut self, address: &str, port: u16) -> Self {
        servers::learn(&servers::find((address, Some(port))));
        self.change().protocol.server = Some((address.into(), port));
        self
    }
}

/// A client service with a span per call. Made by [`GrpcClientLayer`].
///
/// ```no_run
/// use tonic::transport::Channel;
/// use tower_layer::Layer as _;
/// use tracecast_tower::{GrpcClient, GrpcClientLayer};
///
/// let channel = Channel::from_static("http://[::1]:50051").connect_lazy();
/// let traced: GrpcClient<Channel> = GrpcClientLayer::new().layer(channel);
/// ```
pub type GrpcClient<S> = Traced<S, GrpcCalls, ClientSide>;

impl<S, B> Service<Request<Body>> for Traced<S, GrpcCalls, ClientSide>
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

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let call = begin(&mut request, &self.settings);
        ResponseFuture::start(&mut self.inner, request, call)
    }
}

fn begin(request: &mut Request<Body>, settings: &Settings<GrpcCalls, ClientSide>) -> Option<Call> {
    let is_on = Span::is_on() || metrics::are_on(Side::Client);
    if !is_on || !settings.protocol.traces(request.uri().path()) {
        send(&Context::current(), request, settings);
        return None;
    }
    let method = METHODS.of(Side::Client).find(0, request.uri().path());
    let ends = || Ends { server: server_of(request, settings), peer: None };
    let conventions = conventions::rpc();
    let span = start::start(Side::Client, &method, conventions, Origin::default(), |span| ends().tell(span));
    let roll_over = settings.protocol.roll_over.filter(|_| span.is_recording());
    let segments = roll_over.map(|every| Segments::new(every, Context::current(), &ends()));
    let context = if span.is_none() { Context::current() } else { span.context() };
    send(&context, request, settings);
    let deadline = Deadline { given: deadline::given(request.headers()), own: settings.protocol.timeout };
    let extras = |request: &Request<Body>| {
        let server = if conventions.stable() { measured_server(request, settings) } else { None };
        Extras::of(FirstByte::new(settings.times_first_byte), segments, server)
    };
    Call::begin(Side::Client, Place::called(span), conventions, method, request, deadline, extras)
}

/// Returns the server for the metrics' labels; `None` if all metrics of clients are off or the server is unknown.
#[cold]
fn measured_server(request: &Request<Body>, settings: &Settings<GrpcCalls, ClientSide>) -> Option<Arc<Server>> {
    metrics::are_on(Side::Client).then(|| server_of(request, settings).map(servers::find)).flatten()
}

fn send(context: &Context, request: &mut Request<Body>, settings: &Settings<GrpcCalls, ClientSide>) {
    let is_allowed = settings.side.baggage.allows(|| server_of(request, settings).map(|(host, _)| host));
    settings.side.baggage.inject(context, request.headers_mut(), is_allowed);
}

fn server_of<'a>(
    request: &'a Request<Body>,
    settings: &'a Settings<GrpcCalls, ClientSide>,
) -> Option<(&'a str, Option<u16>)> {
    let told = settings.protocol.server.as_ref().map(|(address, port)| (&**address, Some(*port)));
    start::server_of(request.uri()).or(told)
}
