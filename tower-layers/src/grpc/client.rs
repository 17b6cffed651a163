//! The client's side.

use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use tonic::body::Body;
use tower_layer::Layer;
use tower_service::Service;
use tracecast::{Context, Span, conventions};

use crate::deadline;
use crate::grpc::call::Call;
use crate::grpc::descriptor::{self, DescriptorError};
use crate::grpc::method::CALLED;
use crate::grpc::metrics;
use crate::grpc::response::ResponseFuture;
use crate::grpc::segment::Segments;
use crate::grpc::settings::Settings;
use crate::grpc::start::{self, Ends};
use crate::grpc::status::BoxError;
use crate::origin::Origin;
use crate::place::Place;
use crate::side::Side;

/// Makes a span of each call, below the current one, and sends its context along.
///
/// ```no_run
/// use tonic::transport::Channel;
/// use tower_layer::Layer as _;
/// use tracecast_tower::GrpcClientLayer;
///
/// let channel = Channel::from_static("http://[::1]:50051").connect_lazy();
/// let channel = GrpcClientLayer::new().with_server("store", 50051).layer(channel); // `StoreClient::new(channel)`
/// ```
#[derive(Clone, Debug, Default)]
pub struct GrpcClientLayer {
    settings: Arc<Settings>,
}

impl GrpcClientLayer {
    /// Traces all calls but health checks and reflection.
    ///
    /// ```
    /// use tower_layer::Layer as _;
    /// use tracecast_tower::GrpcClientLayer;
    ///
    /// # struct Transport;
    /// let traced = GrpcClientLayer::new().layer(Transport);
    /// ```
    pub fn new() -> Self {
        GrpcClientLayer::default()
    }

    /// Traces the calls of those paths, as `/store.v1.Store/Get`, for which `filter` is true. With the others, the context of
    /// whoever calls is sent.
    ///
    /// ```
    /// use tracecast_tower::GrpcClientLayer;
    ///
    /// let layer = GrpcClientLayer::new().with_filter(|path| path.starts_with("/store.v1."));
    /// ```
    #[must_use]
    pub fn with_filter(mut self, filter: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.change().set_filter(filter);
        self
    }

    /// Says which methods there are, by their paths, as `/store.v1.Store/Get`: they have labels of their own on metrics from
    /// the start. Others are learnt when they have answered `OK`.
    ///
    /// ```
    /// use tracecast_tower::GrpcClientLayer;
    ///
    /// let layer = GrpcClientLayer::new().with_methods(["/store.v1.Store/Get", "/store.v1.Store/Put"]);
    /// ```
    #[must_use]
    pub fn with_methods<'a>(self, paths: impl IntoIterator<Item = &'a str>) -> Self {
        CALLED.learn_all(paths);
        self
    }

    /// The same by an encoded `FileDescriptorSet`, as
    /// [on the server](crate::GrpcServerLayer::with_descriptor_set).
    ///
    /// ```
    /// use tracecast_tower::GrpcClientLayer;
    ///
    /// assert!(GrpcClientLayer::new().with_descriptor_set(b"no descriptor set").is_err());
    /// ```
    ///
    /// # Errors
    /// If it is none, or has no methods.
    pub fn with_descriptor_set(self, set: &[u8]) -> Result<Self, DescriptorError> {
        let paths = descriptor::paths(set)?;
        Ok(self.with_methods(paths.iter().map(String::as_str)))
    }

    /// Sends no baggage: for servers of others. By default all of it is sent to everybody, if `OTEL_PROPAGATORS` has `baggage`.
    ///
    /// ```
    /// use tracecast_tower::GrpcClientLayer;
    ///
    /// let layer = GrpcClientLayer::new().without_baggage();
    /// ```
    #[must_use]
    pub fn without_baggage(mut self) -> Self {
        self.change().baggage.keep_all();
        self
    }

    /// Sends these keys of the baggage only.
    ///
    /// ```
    /// use tracecast_tower::GrpcClientLayer;
    ///
    /// let layer = GrpcClientLayer::new().with_baggage_keys(["tc.session.id"]);
    /// ```
    #[must_use]
    pub fn with_baggage_keys<'a>(mut self, keys: impl IntoIterator<Item = &'a str>) -> Self {
        self.change().baggage.send_only(keys);
        self
    }

    /// Sends baggage to these servers only: a name, as `store.internal`, or all below a domain, as `*.svc.cluster.local`. Others
    /// get none, also none that was written to the request before. A tonic channel does not tell the layer
    /// whom it calls: name the server with [`with_server`](Self::with_server), or it gets none.
    ///
    /// ```
    /// use tracecast_tower::GrpcClientLayer;
    ///
    /// let layer = GrpcClientLayer::new().with_baggage_to(["store.internal", "*.svc.cluster.local"]);
    /// ```
    #[must_use]
    pub fn with_baggage_to<'a>(mut self, hosts: impl IntoIterator<Item = &'a str>) -> Self {
        self.change().baggage.send_to(hosts);
        self
    }

    /// Says who is called, for `server.address` and `server.port` on spans. A tonic channel knows it, but not the layer
    /// around it; where requests name their server themselves, that is what counts.
    ///
    /// ```
    /// use tracecast_tower::GrpcClientLayer;
    ///
    /// let layer = GrpcClientLayer::new().with_server("store.example", 50051);
    /// ```
    #[must_use]
    pub fn with_server(mut self, address: &str, port: u16) -> Self {
        self.change().server = Some((address.into(), port));
        self
    }

    /// Ends the span of a call that lasts longer than this, and begins another one, again and again: so that a stream which
    /// lives for hours is seen meanwhile. Each has the parent of the first, a link to the one before, its number as
    /// `tc.rpc.segment` and what has passed while it lasted; the last one has the status. A call without a parent goes on
    /// in a trace of its own. A stream at which nothing happens is looked at too, unless nobody waits for it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tracecast_tower::GrpcClientLayer;
    ///
    /// let layer = GrpcClientLayer::new().with_roll_over(Duration::from_secs(60));
    /// ```
    #[must_use]
    pub fn with_roll_over(mut self, every: Duration) -> Self {
        self.change().roll_over = Some(every);
        self
    }

    fn change(&mut self) -> &mut Settings {
        Arc::make_mut(&mut self.settings)
    }
}

impl<S> Layer<S> for GrpcClientLayer {
    type Service = GrpcClient<S>;

    fn layer(&self, inner: S) -> GrpcClient<S> {
        GrpcClient { inner, settings: self.settings.clone() }
    }
}

/// A client's service whose calls are spans. Made by [`GrpcClientLayer`].
///
/// ```no_run
/// use tonic::transport::Channel;
/// use tower_layer::Layer as _;
/// use tracecast_tower::{GrpcClient, GrpcClientLayer};
///
/// let channel = Channel::from_static("http://[::1]:50051").connect_lazy();
/// let traced: GrpcClient<Channel> = GrpcClientLayer::new().layer(channel);
/// ```
#[derive(Clone, Debug)]
pub struct GrpcClient<S> {
    inner: S,
    settings: Arc<Settings>,
}

impl<S, B> Service<Request<Body>> for GrpcClient<S>
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
        ResponseFuture::start(&mut self.inner, request, call, false)
    }
}

fn begin(request: &mut Request<Body>, settings: &Settings) -> Option<Call> {
    let is_on = Span::is_on() || metrics::are_on(Side::Client);
    if !is_on || !settings.traces(request.uri().path()) {
        send(&Context::current(), request, settings);
        return None;
    }
    let method = CALLED.find(request.uri().path());
    let mut span = start::start(Side::Client, &method, conventions::rpc(), Origin::default());
    let mut segments = None;
    if span.is_recording() {
        let ends = Ends { server: server_of(request, settings), peer: None };
        ends.tell(&mut span);
        segments = settings.roll_over.map(|every| Segments::new(every, Context::current(), &ends));
    }
    let context = if span.is_none() { Context::current() } else { span.context() };
    send(&context, request, settings);
    let (place, given) = (Place::called(span), deadline::given(request.headers()));
    Call::begin(Side::Client, place, method, request.body_mut(), (given, settings.timeout), segments)
}

fn send(context: &Context, request: &mut Request<Body>, settings: &Settings) {
    let is_allowed = settings.baggage.allows(|| server_of(request, settings).map(|(host, _)| host));
    settings.baggage.inject(context, request.headers_mut(), is_allowed);
}

fn server_of<'a>(request: &'a Request<Body>, settings: &'a Settings) -> Option<(&'a str, Option<u16>)> {
    let told = settings.server.as_ref().map(|(address, port)| (&**address, Some(*port)));
    start::server_of(request.uri()).or(told)
}
