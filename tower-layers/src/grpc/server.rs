//! The server's side.

use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use tonic::body::Body;
use tonic::server::NamedService;
use tower_layer::Layer;
use tower_service::Service;
use tracecast::{Key, KeyOf, Kind, Sampler, Span, conventions};

use crate::deadline;
use crate::grpc::call::Call;
use crate::grpc::descriptor::{self, DescriptorError};
use crate::grpc::method::SERVED;
use crate::grpc::metrics;
use crate::grpc::response::ResponseFuture;
use crate::grpc::segment::Segments;
use crate::grpc::settings::Settings;
use crate::grpc::start::{self, Ends};
use crate::grpc::status::BoxError;
use crate::headers::{self, Carried};
use crate::origin::Origin;
use crate::place::Place;
use crate::side::Side;
use crate::trust::{self, Peer};

/// Makes a span of each call that is served, below the caller's.
///
/// It goes around a whole server, `Server::builder().layer(GrpcServerLayer::new())`, or around one service.
///
/// ```no_run
/// use tonic::transport::Server;
/// use tracecast_tower::GrpcServerLayer;
///
/// let server = Server::builder().layer(GrpcServerLayer::new());
/// // .. `server.add_service(..).serve(..)` ..
/// # drop(server);
/// ```
#[derive(Clone, Debug, Default)]
pub struct GrpcServerLayer {
    settings: Arc<Settings>,
}

impl GrpcServerLayer {
    /// Traces all calls but health checks and reflection.
    ///
    /// ```
    /// use tower_layer::Layer as _;
    /// use tracecast_tower::GrpcServerLayer;
    ///
    /// # struct StoreServer;
    /// let traced = GrpcServerLayer::new().layer(StoreServer);
    /// ```
    pub fn new() -> Self {
        GrpcServerLayer::default()
    }

    /// Traces the calls of those paths, as `/store.v1.Store/Get`, for which `filter` is true. The others are transparent: the
    /// spans that they cause are children of the caller's.
    ///
    /// ```
    /// use tracecast_tower::GrpcServerLayer;
    ///
    /// let layer = GrpcServerLayer::new().with_filter(|path| !path.ends_with("/Ping"));
    /// ```
    #[must_use]
    pub fn with_filter(mut self, filter: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.change().set_filter(filter);
        self
    }

    /// Takes the context of those callers for which `trusts` is true. A call of any other begins a trace of its own, which
    /// has a link to the caller's span; neither the caller's baggage, nor its decision to sample, nor its `tracestate`
    /// goes on. Without this all callers are trusted.
    ///
    /// ```
    /// use tracecast_tower::GrpcServerLayer;
    ///
    /// let layer = GrpcServerLayer::new()
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
    /// use tracecast_tower::GrpcServerLayer;
    ///
    /// mod keys {
    ///     tracecast::tc_keys! {
    ///         /// The session of a user.
    ///         pub id session: str = "tc.session.id";
    ///     }
    /// }
    ///
    /// let layer = GrpcServerLayer::new().with_shared_baggage(keys::session);
    /// ```
    #[must_use]
    pub fn with_shared_baggage<K: Key<Value = str>>(mut self, key: fn() -> KeyOf<K>) -> Self {
        self.change().policy.share_baggage(key);
        self
    }

    /// Has this sampler decide about traces that begin with a call of this path, in place of the process's. A `*` at the
    /// end stands for anything; of several that fit, the first decides. A trusted caller has decided already.
    ///
    /// ```
    /// use tracecast::Sampler;
    /// use tracecast_tower::GrpcServerLayer;
    ///
    /// let layer = GrpcServerLayer::new()
    ///     .with_sampler("/store.v1.Store/Put", Sampler::AlwaysOn)
    ///     .with_sampler("/store.v1.*", Sampler::Ratio(0.01));
    /// ```
    #[must_use]
    pub fn with_sampler(mut self, path: &str, sampler: Sampler) -> Self {
        self.change().policy.add_sampler(path, sampler);
        self
    }

    /// Says which methods there are, by their paths, as `/store.v1.Store/Get`: they have labels of their own on metrics from
    /// the start. Others are learnt when they have answered `OK`.
    ///
    /// ```
    /// use tracecast_tower::GrpcServerLayer;
    ///
    /// let layer = GrpcServerLayer::new().with_methods(["/store.v1.Store/Get", "/store.v1.Store/Put"]);
    /// ```
    #[must_use]
    pub fn with_methods<'a>(self, paths: impl IntoIterator<Item = &'a str>) -> Self {
        SERVED.learn_all(paths);
        self
    }

    /// The same by an encoded `FileDescriptorSet`: all methods of all services in it.
    ///
    /// With code that `tonic-prost-build` generates, `configure().file_descriptor_set_path(out_dir.join("store.bin"))` in
    /// `build.rs` writes it, and `with_descriptor_set(tonic::include_file_descriptor_set!("store"))?` takes it.
    ///
    /// ```
    /// use tracecast_tower::GrpcServerLayer;
    ///
    /// assert!(GrpcServerLayer::new().with_descriptor_set(b"no descriptor set").is_err());
    /// ```
    ///
    /// # Errors
    /// If it is none, or has no methods.
    pub fn with_descriptor_set(self, set: &[u8]) -> Result<Self, DescriptorError> {
        let paths = descriptor::paths(set)?;
        Ok(self.with_methods(paths.iter().map(String::as_str)))
    }

    /// Says which timeout the server has for all calls, as in `Server::builder().timeout(timeout)`. That is outside of this
    /// layer and only drops what takes too long; told of it, the layer knows why. It ends no call by itself.
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
        self.change().timeout = Some(timeout);
        self
    }

    /// Answers `INTERNAL` when a handler panics. Otherwise the panic goes on, which the caller sees as `CANCELLED`; so does one of
    /// an interceptor that stands inside of this layer.
    ///
    /// ```
    /// use tracecast_tower::GrpcServerLayer;
    ///
    /// let layer = GrpcServerLayer::new().with_answered_panics();
    /// ```
    #[must_use]
    pub fn with_answered_panics(mut self) -> Self {
        self.change().answers_panics = true;
        self
    }

    /// Ends the span of a call that lasts longer than this, and begins another one, again and again: so that a stream which
    /// lives for hours is seen meanwhile. Each has the parent of the first, a link to the one before, its number as
    /// `tc.rpc.segment` and what has passed while it lasted; the last one has the status. A call without a parent goes on
    /// in a trace of its own. A stream at which nothing happens is looked at too, unless nobody waits for it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tracecast_tower::GrpcServerLayer;
    ///
    /// let layer = GrpcServerLayer::new().with_roll_over(Duration::from_secs(60));
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

impl<S> Layer<S> for GrpcServerLayer {
    type Service = GrpcServer<S>;

    fn layer(&self, inner: S) -> GrpcServer<S> {
        GrpcServer { inner, settings: self.settings.clone() }
    }
}

/// A service whose calls are spans. Made by [`GrpcServerLayer`].
///
/// ```
/// use tower_layer::Layer as _;
/// use tracecast_tower::{GrpcServer, GrpcServerLayer};
///
/// # #[derive(Clone)]
/// # struct StoreServer;
/// let traced: GrpcServer<StoreServer> = GrpcServerLayer::new().layer(StoreServer);
/// ```
#[derive(Clone, Debug)]
pub struct GrpcServer<S> {
    inner: S,
    settings: Arc<Settings>,
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

    #[inline]
    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let is_on = is_on();
        if !is_on && !headers::may_carry(request.headers()) {
            return ResponseFuture::plain(self.inner.call(request), self.settings.answers_panics);
        }
        let call = begin(&mut request, &self.settings, is_on);
        ResponseFuture::start(&mut self.inner, request, call, self.settings.answers_panics)
    }
}

impl<S: NamedService> NamedService for GrpcServer<S> {
    const NAME: &'static str = S::NAME;
}

fn is_on() -> bool {
    Span::is_on() || metrics::are_on(Side::Server)
}

fn begin(request: &mut Request<Body>, settings: &Settings, is_on: bool) -> Option<Call> {
    let (path, carried) = (request.uri().path(), Carried::of(request.headers()));
    let caller = settings.policy.caller_by(request, &carried);
    if !is_on || !settings.traces(path) {
        return Call::at(Place::transparent(caller.parent));
    }
    let is_unsampled = caller.parent.is_valid() && !caller.parent.is_sampled();
    if is_unsampled && !metrics::are_on(Side::Server) {
        // Nothing will be told of it, so that nobody has to know what is called.
        let span = Span::standing_for(&caller.parent, Kind::Server);
        return Call::at(Place::served(span, caller.parent));
    }
    let (method, given) = (SERVED.find(path), carried.timeout().and_then(deadline::parse));
    let sampler = settings.policy.sampler(path);
    let origin = Origin { parent: Some(&caller.parent), link: caller.link.as_deref(), sampler };
    let mut span = start::start(Side::Server, &method, conventions::rpc(), origin);
    let mut segments = None;
    if span.is_recording() {
        let ends = Ends { server: start::server_of(request.uri()), peer: trust::address(request.extensions()) };
        ends.tell(&mut span);
        segments = settings.roll_over.map(|every| Segments::new(every, caller.parent.clone(), &ends));
    }
    let place = Place::served(span, caller.parent);
    Call::begin(Side::Server, place, method, request.body_mut(), (given, settings.timeout), segments)
}
