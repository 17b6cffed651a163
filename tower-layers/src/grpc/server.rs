//! The layer for gRPC servers.

use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use tonic::body::Body;
use tonic::server::NamedService;
use tower_service::Service;
use tracecast::__layers::{conventions, is_active};
use tracecast::{Kind, Span};

use crate::ends::Ends;
use crate::failed::BoxError;
use crate::first_byte::FirstByte;
use crate::grpc::call::{Call, Extras};
use crate::grpc::deadline::{self, Deadline};
use crate::grpc::method::METHODS;
use crate::grpc::metrics;
use crate::grpc::response::ResponseFuture;
use crate::grpc::segment::Segments;
use crate::grpc::settings::GrpcCalls;
use crate::grpc::start;
use crate::headers::{self, Carried};
use crate::origin::Origin;
use crate::place::Place;
use crate::side::Side;
use crate::trace_layer::{ServerSide, Settings, TraceLayer, Traced};
use crate::trust::{self, Caller};

/// Records a span per served call, below the caller's span.
///
/// Put it around a whole server, `Server::builder().layer(GrpcServerLayer::new())`, or around one service.
///
/// ```no_run
/// use tonic::transport::Server;
/// use tracecast_tower::GrpcServerLayer;
///
/// let server = Server::builder().layer(GrpcServerLayer::new());
/// // .. `server.add_service(..).serve(..)` ..
/// # drop(server);
/// ```
pub type GrpcServerLayer = TraceLayer<GrpcCalls, ServerSide>;

/// Methods for gRPC servers.
impl TraceLayer<GrpcCalls, ServerSide> {
    /// Declares the timeout that the server enforces for all calls, as in `Server::builder().timeout(timeout)`. That
    /// timeout is outside this layer and only drops a call; with its length, the layer can record the
    /// reason. The layer itself ends no call.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tracecast_tower::GrpcServerLayer;
    ///
    /// let timeout = Duration::from_secs(30);
    /// let layer = GrpcServerLayer::new().with_timeout(timeout);
    /// let server = tonic::transport::Server::builder().timeout(timeout).layer(layer);
    /// ```
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.change().protocol.timeout = Some(timeout);
        self
    }

    /// Answers `INTERNAL` when a handler, or an interceptor inside this layer, panics. Otherwise the panic is passed
    /// on, and the caller sees `CANCELLED`.
    ///
    /// ```
    /// use tracecast_tower::GrpcServerLayer;
    ///
    /// let layer = GrpcServerLayer::new().with_answered_panics();
    /// ```
    #[must_use]
    pub fn with_answered_panics(mut self) -> Self {
        self.change().protocol.answers_panics = true;
        self
    }
}

/// A service with a span per call. Made by [`GrpcServerLayer`].
///
/// ```
/// use tower_layer::Layer as _;
/// use tracecast_tower::{GrpcServer, GrpcServerLayer};
///
/// # #[derive(Clone)]
/// # struct StoreServer;
/// let traced: GrpcServer<StoreServer> = GrpcServerLayer::new().layer(StoreServer);
/// ```
pub type GrpcServer<S> = Traced<S, GrpcCalls, ServerSide>;

impl<S, B> Service<Request<Body>> for Traced<S, GrpcCalls, ServerSide>
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

    #[inline]
    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let is_on = is_on();
        if !is_on && !self.settings.protocol.answers_panics && !headers::may_carry(request.headers()) {
            return ResponseFuture::plain(self.inner.call(request));
        }
        self.call_traced(request, is_on)
    }
}

impl<S> Traced<S, GrpcCalls, ServerSide> {
    /// Separate from `call`, so that with telemetry off no registers are saved and nothing is moved for it.
    #[inline(never)]
    fn call_traced(&mut self, mut request: Request<Body>, is_on: bool) -> ResponseFuture<S::Future>
    where
        S: Service<Request<Body>>,
    {
        let carried = Carried::of(request.headers());
        let given = carried.timeout().and_then(deadline::parse);
        let caller = self.settings.side.policy.caller(&request, &carried);
        let mut call = begin(&mut request, &self.settings, is_on, caller, given);
        if self.settings.protocol.answers_panics {
            Call::answer_panics(&mut call);
        }
        ResponseFuture::start(&mut self.inner, request, call)
    }
}

impl<S: NamedService> NamedService for Traced<S, GrpcCalls, ServerSide> {
    const NAME: &'static str = S::NAME;
}

#[inline]
fn is_on() -> bool {
    is_active() && (Span::is_on() || metrics::are_on(Side::Server))
}

/// Begins a call; `None` if there is nothing to record, measure or make current. `given` is the timeout in the call's
/// header.
#[inline]
fn begin(
    request: &mut Request<Body>,
    settings: &Settings<GrpcCalls, ServerSide>,
    is_on: bool,
    caller: Caller,
    given: Option<Duration>,
) -> Option<Call> {
    let Settings { protocol: grpc, side: ServerSide { policy }, times_first_byte } = settings;
    let path = request.uri().path();
    if !is_on || !grpc.traces(path) {
        return Call::at(Place::transparent(caller.parent), Side::Server);
    }
    let is_unsampled = caller.parent.is_valid() && !caller.parent.is_sampled();
    if is_unsampled && !metrics::are_on(Side::Server) {
        // Nothing is recorded or measured, so the method is not looked up.
        let span = Span::non_recording(&caller.parent, Kind::Server);
        return Call::at(Place::served(span, caller.parent), Side::Server);
    }
    let method = METHODS.of(Side::Server).find(0, path);
    let deadline = Deadline { given, own: grpc.timeout };
    let origin = Origin { parent: Some(&caller.parent), link: caller.link.as_deref(), sampler: policy.sampler(path) };
    let ends = || Ends { server: start::server_of(request.uri()), peer: trust::address(request.extensions()) };
    let conventions = conventions::rpc();
    let span = start::start(Side::Server, &method, conventions, origin, |span| ends().tell(span));
    let roll_over = grpc.roll_over.filter(|_| span.is_recording());
    let segments = roll_over.map(|every| Segments::new(every, caller.parent.clone(), &ends()));
    let place = Place::served(span, caller.parent);
    let extras = |_: &Request<Body>| Extras::of(FirstByte::new(*times_first_byte), segments, None);
    Call::begin(Side::Server, place, conventions, method, request, deadline, extras)
}
