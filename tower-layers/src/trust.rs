//! The caller of a request, and how far its headers are trusted.

use std::fmt;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use http::{Extensions, HeaderMap, Request, Uri};
use tracecast::{Context, Key, KeyOf, Sampler};

use crate::headers::Carried;

/// The sender of a request, as a trust policy sees it.
///
/// ```
/// use tracecast_tower::Peer;
///
/// let request = http::Request::get("/store.v1.Store/Get").header("x-team", "storage").body(())?;
/// let peer = Peer::of(&request);
/// assert_eq!((peer.path(), peer.address()), ("/store.v1.Store/Get", None));
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Peer<'r> {
    uri: &'r Uri,
    headers: &'r HeaderMap,
    extensions: &'r Extensions,
}

impl<'r> Peer<'r> {
    /// Returns the sender of a request.
    ///
    /// ```
    /// # use tracecast_tower::Peer;
    /// let request = http::Request::get("/store.v1.Store/Get").body(())?;
    /// assert_eq!(Peer::of(&request).path(), "/store.v1.Store/Get");
    /// # Ok::<(), http::Error>(())
    /// ```
    pub fn of<B>(request: &'r Request<B>) -> Self {
        Peer { uri: request.uri(), headers: request.headers(), extensions: request.extensions() }
    }

    /// Returns the sender's address, if the server adds it to the request's extensions, as tonic's transport does.
    ///
    /// ```
    /// use tracecast_tower::GrpcServerLayer;
    ///
    /// let layer = GrpcServerLayer::new().with_trust(|peer| peer.address().is_some_and(|address| address.is_ipv6()));
    /// ```
    pub fn address(&self) -> Option<SocketAddr> {
        address(self.extensions)
    }

    /// Returns the request's path: `/store.v1.Store/Get`.
    ///
    /// ```
    /// use tracecast_tower::GrpcServerLayer;
    ///
    /// let layer = GrpcServerLayer::new().with_trust(|peer| peer.path().starts_with("/internal."));
    /// ```
    pub fn path(&self) -> &'r str {
        self.uri.path()
    }

    /// Returns the request's headers. The sender can put anything there.
    ///
    /// ```
    /// # use tracecast_tower::Peer;
    /// let request = http::Request::get("/").header("x-team", "storage").body(())?;
    /// assert_eq!(Peer::of(&request).headers()["x-team"], "storage");
    /// # Ok::<(), http::Error>(())
    /// ```
    pub fn headers(&self) -> &'r HeaderMap {
        self.headers
    }

    /// Returns the request's extensions, in which the server and outer layers put data about the connection, such as
    /// the peer's certificates.
    ///
    /// ```
    /// # use tracecast_tower::Peer;
    /// #[derive(Clone)]
    /// struct Internal; // put there by an outer layer
    ///
    /// let request = http::Request::get("/").extension(Internal).body(())?;
    /// assert!(Peer::of(&request).extensions().get::<Internal>().is_some());
    /// # Ok::<(), http::Error>(())
    /// ```
    pub fn extensions(&self) -> &'r Extensions {
        self.extensions
    }
}

impl fmt::Debug for Peer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer").field("address", &self.address()).field("path", &self.path()).finish_non_exhaustive()
    }
}

/// Returns the address of a request's sender; `None` if the server does not provide it.
pub(crate) fn address(extensions: &Extensions) -> Option<SocketAddr> {
    #[cfg(feature = "transport")]
    if let Some(info) = extensions.get::<tonic::transport::server::TcpConnectInfo>() {
        return info.remote_addr();
    }
    #[cfg(feature = "axum")]
    if let Some(info) = extensions.get::<axum::extract::ConnectInfo<SocketAddr>>() {
        return Some(info.0);
    }
    extensions.get::<SocketAddr>().copied()
}

type Predicate = dyn Fn(&Peer<'_>) -> bool + Send + Sync;

/// The policy of a server's layer towards its callers.
#[derive(Clone, Default)]
pub(crate) struct Policy {
    /// Decides which callers are trusted; `None` trusts all.
    trusts: Option<Arc<Predicate>>,
    shared: Vec<Share>,
    samplers: Samplers,
}

/// Makes a baggage entry an attribute of the spans below.
type Share = fn(&Context) -> Context;

/// The origin of a served call.
#[derive(Debug, Default)]
pub(crate) struct Caller {
    /// The parent; invalid for a root.
    pub(crate) parent: Context,
    /// The span of an untrusted caller.
    pub(crate) link: Option<Box<Context>>,
}

impl Caller {
    /// Returns the origin of a call from an untrusted caller: a link to the caller's span. The caller's baggage and
    /// `tracestate` are ignored.
    fn distrusted(said: &Context) -> Self {
        let link = said.is_valid().then(|| Context::remote(said.trace_id(), said.span_id(), said.is_sampled()));
        Caller { parent: Context::default(), link: link.map(Box::new) }
    }
}

impl Policy {
    pub(crate) fn set_trust(&mut self, trusts: impl Fn(&Peer<'_>) -> bool + Send + Sync + 'static) {
        self.trusts = Some(Arc::new(trusts));
    }

    pub(crate) fn share_baggage<K: Key<Value = str>>(&mut self, _key: fn() -> KeyOf<K>) {
        self.shared.push(|context| context.with_shared_baggage(KeyOf::<K>::new));
    }

    pub(crate) fn add_sampler(&mut self, pattern: &str, sampler: Sampler) {
        self.samplers.0.push((pattern.into(), sampler));
    }

    /// Returns the caller's context, or a link if the caller is not trusted; neither if the headers hold no context.
    #[inline]
    pub(crate) fn caller<B>(&self, request: &Request<B>, carried: &Carried<'_>) -> Caller {
        if !carried.is_anything() {
            return Caller::default();
        }
        let said = carried.context();
        if self.trusts.is_some() && !self.trusts(request) {
            return Caller::distrusted(&said);
        }
        Caller { parent: self.sharing(said), link: None }
    }

    /// Returns the sampler for a root with this route, in place of the process's sampler; `None` if no pattern matches.
    pub(crate) fn sampler(&self, route: &str) -> Option<&Sampler> {
        self.samplers.find(route)
    }

    /// Returns whether the caller is trusted. A predicate that panics trusts no caller.
    fn trusts<B>(&self, request: &Request<B>) -> bool {
        let Some(trusts) = &self.trusts else { return true };
        catch_unwind(AssertUnwindSafe(|| trusts(&Peer::of(request)))).unwrap_or(false)
    }

    fn sharing(&self, context: Context) -> Context {
        if self.shared.is_empty() {
            return context;
        }
        self.shared.iter().fold(context, |context, share| share(&context))
    }
}

/// Samplers by route; the first match decides.
#[derive(Clone, Debug, Default)]
struct Samplers(Vec<(Box<str>, Sampler)>);

impl Samplers {
    fn find(&self, route: &str) -> Option<&Sampler> {
        self.0.iter().find(|(pattern, _)| matches(pattern, route)).map(|(_, sampler)| sampler)
    }
}

/// Returns whether a text matches a pattern; a `*` at its end matches anything.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => text.starts_with(start),
        None => text == pattern,
    }
}
