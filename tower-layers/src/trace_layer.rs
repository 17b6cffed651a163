//! The layer and the service that both protocols and both sides share. Public as `layer`.

use std::fmt;
use std::sync::Arc;

use tower_layer::Layer;
use tracecast::{Key, KeyOf, Sampler};

use crate::baggage::Baggage;
use crate::sealed::Sealed;
use crate::side::Side;
use crate::trust::{Peer, Policy};

/// Records a span per call. `P` is the protocol, `GrpcCalls` or `HttpRequests`; `E` is the side, [`ServerSide`] or
/// [`ClientSide`].
///
/// ```
/// use tracecast_tower::GrpcServerLayer;
/// use tracecast_tower::layer::{GrpcCalls, ServerSide, TraceLayer};
///
/// let layer: TraceLayer<GrpcCalls, ServerSide> = GrpcServerLayer::new();
/// ```
#[derive(Clone, Debug, Default)]
pub struct TraceLayer<P, E> {
    pub(crate) settings: Arc<Settings<P, E>>,
}

/// A service with a span per call. Made by a [`TraceLayer`].
///
/// ```
/// use tower_layer::Layer as _;
/// use tracecast_tower::GrpcServerLayer;
/// use tracecast_tower::layer::{GrpcCalls, ServerSide, Traced};
///
/// # struct StoreServer;
/// let traced: Traced<StoreServer, GrpcCalls, ServerSide> = GrpcServerLayer::new().layer(StoreServer);
/// ```
#[derive(Clone, Debug)]
pub struct Traced<S, P, E> {
    pub(crate) inner: S,
    pub(crate) settings: Arc<Settings<P, E>>,
}

/// The settings of a layer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings<P, E> {
    pub(crate) protocol: P,
    pub(crate) side: E,
    /// Whether the time to the first byte of responses is recorded.
    pub(crate) times_first_byte: bool,
}

/// The server side, with its policy towards callers.
#[derive(Clone, Default)]
pub struct ServerSide {
    pub(crate) policy: Policy,
}

/// The client side, with its rule for baggage.
#[derive(Clone, Debug, Default)]
pub struct ClientSide {
    pub(crate) baggage: Baggage,
}

/// A side of a call: [`ServerSide`] or [`ClientSide`]. Only this crate implements it.
pub trait LayerSide: Clone + Sealed {
    #[doc(hidden)]
    const SIDE: Side;
}

impl Sealed for ServerSide {}
impl Sealed for ClientSide {}

impl LayerSide for ServerSide {
    const SIDE: Side = Side::Server;
}

impl LayerSide for ClientSide {
    const SIDE: Side = Side::Client;
}

impl fmt::Debug for ServerSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerSide").finish_non_exhaustive()
    }
}

impl<P: Default, E: Default> TraceLayer<P, E> {
    /// Traces all calls except health checks and the like: calls of gRPC's health and reflection services, and on an
    /// HTTP server requests for `/health`, `/healthz`, `/livez`, `/readyz` and `/metrics`.
    ///
    /// ```
    /// use tower_layer::Layer as _;
    /// use tracecast_tower::GrpcServerLayer;
    ///
    /// # struct StoreServer;
    /// let traced = GrpcServerLayer::new().layer(StoreServer);
    /// ```
    pub fn new() -> Self {
        TraceLayer::default()
    }
}

impl<P: Clone, E: Clone> TraceLayer<P, E> {
    /// Records the time from the beginning of each call to the first byte of its response's body, for responses that
    /// are produced while they are streamed: as `tc.response.first_byte_seconds` on the span, and in the histogram
    /// `tc_rpc_server_first_byte_seconds`, `tc_rpc_client_first_byte_seconds`, `tc_http_server_first_byte_seconds` or
    /// `tc_http_client_first_byte_seconds`, when the call ends. Responses without a body are not recorded.
    ///
    /// ```
    /// use tracecast_tower::{GrpcClientLayer, GrpcServerLayer};
    ///
    /// let (server, client) = (GrpcServerLayer::new().with_first_byte(), GrpcClientLayer::new().with_first_byte());
    /// ```
    #[must_use]
    pub fn with_first_byte(mut self) -> Self {
        self.change().times_first_byte = true;
        self
    }

    pub(crate) fn change(&mut self) -> &mut Settings<P, E> {
        Arc::make_mut(&mut self.settings)
    }
}

/// Methods for servers.
impl<P: Clone> TraceLayer<P, ServerSide> {
    /// Accepts the context only of callers for which `trusts` is true. A call of any other caller starts a trace of its
    /// own with a link to the caller's span; the caller's baggage, sampling decision and `tracestate` are ignored. By
    /// default all callers are trusted.
    ///
    /// ```
    /// use tracecast_tower::GrpcServerLayer;
    ///
    /// let layer = GrpcServerLayer::new()
    ///     .with_trust(|peer| peer.address().is_some_and(|address| address.ip().is_loopback()));
    /// ```
    #[must_use]
    pub fn with_trust(mut self, trusts: impl Fn(&Peer<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.change().side.policy.set_trust(trusts);
        self
    }

    /// Records an entry of a trusted caller's baggage, by this key's name, as an attribute of the spans below. Other
    /// entries stay in the baggage only.
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
        self.change().side.policy.share_baggage(key);
        self
    }

    /// Sets the sampler for traces that begin with a call of this route, in place of the process's sampler. For gRPC a
    /// route is the path of a method; for HTTP it is the route's template, or the path if the route is not known. A `*`
    /// at the end matches anything; the first match decides. The sampler does not override a trusted caller's decision.
    ///
    /// ```
    /// use tracecast::Sampler;
    /// use tracecast_tower::GrpcServerLayer;
    /// # #[cfg(feature = "http")]
    /// use tracecast_tower::HttpServerLayer;
    ///
    /// let layer = GrpcServerLayer::new()
    ///     .with_sampler("/store.v1.Store/Put", Sampler::AlwaysOn)
    ///     .with_sampler("/store.v1.*", Sampler::Ratio(0.01));
    ///
    /// # #[cfg(feature = "http")]
    /// let layer = HttpServerLayer::new()
    ///     .with_sampler("/items/{id}", Sampler::Ratio(0.01))
    ///     .with_sampler("/static/*", Sampler::AlwaysOff);
    /// ```
    #[must_use]
    pub fn with_sampler(mut self, route: &str, sampler: Sampler) -> Self {
        self.change().side.policy.add_sampler(route, sampler);
        self
    }
}

/// Methods for clients.
impl<P: Clone> TraceLayer<P, ClientSide> {
    /// Sends no baggage, for calls to third parties. By default all baggage is sent, if `OTEL_PROPAGATORS` has
    /// `baggage`.
    ///
    /// ```
    /// use tracecast_tower::GrpcClientLayer;
    ///
    /// let layer = GrpcClientLayer::new().without_baggage();
    /// ```
    #[must_use]
    pub fn without_baggage(mut self) -> Self {
        self.change().side.baggage.keep_all();
        self
    }

    /// Sends only baggage entries with these keys.
    ///
    /// ```
    /// use tracecast_tower::GrpcClientLayer;
    ///
    /// let layer = GrpcClientLayer::new().with_baggage_keys(["tc.session.id"]);
    /// ```
    #[must_use]
    pub fn with_baggage_keys<'a>(mut self, keys: impl IntoIterator<Item = &'a str>) -> Self {
        self.change().side.baggage.send_only(keys);
        self
    }

    /// Sends baggage only to these servers: a name, such as `store.internal`, or all names below a domain, such as
    /// `*.svc.cluster.local`. For other servers a `baggage` header that is already on the request is removed too.
    ///
    /// A layer cannot read the server of a tonic channel: set the server with `GrpcClientLayer::with_server`, or it
    /// gets no baggage. Put an HTTP client that follows redirects around this layer, not inside it, so that the layer
    /// sees each request.
    ///
    /// ```
    /// use tracecast_tower::GrpcClientLayer;
    ///
    /// let layer = GrpcClientLayer::new()
    ///     .with_server("store.internal", 50051)
    ///     .with_baggage_to(["store.internal", "*.svc.cluster.local"]);
    /// ```
    #[must_use]
    pub fn with_baggage_to<'a>(mut self, hosts: impl IntoIterator<Item = &'a str>) -> Self {
        self.change().side.baggage.send_to(hosts);
        self
    }
}

impl<S, P, E> Layer<S> for TraceLayer<P, E> {
    type Service = Traced<S, P, E>;

    fn layer(&self, inner: S) -> Traced<S, P, E> {
        Traced { inner, settings: self.settings.clone() }
    }
}
