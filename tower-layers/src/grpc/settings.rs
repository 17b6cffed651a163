//! Settings of the gRPC layers.

use std::time::Duration;

use crate::filter::Filter;
use crate::grpc::descriptor::{self, DescriptorError};
use crate::grpc::method::METHODS;
use crate::trace_layer::{LayerSide, TraceLayer};

/// The protocol of the gRPC layers, with their settings.
#[derive(Clone, Debug, Default)]
pub struct GrpcCalls {
    filter: Filter<str>,
    /// On a server: whether a panic of a handler is answered with `INTERNAL`.
    pub(crate) answers_panics: bool,
    /// On a server: the timeout for all calls, which other code enforces.
    pub(crate) timeout: Option<Duration>,
    /// The time after which a call's span is followed by another.
    pub(crate) roll_over: Option<Duration>,
    /// On a client: the server, if requests do not name it.
    pub(crate) server: Option<(Box<str>, u16)>,
}

impl GrpcCalls {
    pub(crate) fn traces(&self, path: &str) -> bool {
        self.filter.takes(path).unwrap_or_else(|| is_of_interest(path))
    }
}

/// Returns whether calls of a path are traced by default: health checks and reflection are not.
fn is_of_interest(path: &str) -> bool {
    path.strip_prefix("/grpc.").is_none_or(|rest| !rest.starts_with("health.") && !rest.starts_with("reflection."))
}

/// Methods for gRPC servers and clients.
impl<E: LayerSide> TraceLayer<GrpcCalls, E> {
    /// Traces only calls whose path, such as `/store.v1.Store/Get`, passes `filter`. A server does not record the other
    /// calls: spans inside them are children of the caller's span. A client sends the current context with the other
    /// calls too.
    ///
    /// ```
    /// use tracecast_tower::{GrpcClientLayer, GrpcServerLayer};
    ///
    /// let server = GrpcServerLayer::new().with_filter(|path| !path.ends_with("/Ping"));
    /// let client = GrpcClientLayer::new().with_filter(|path| path.starts_with("/store.v1."));
    /// ```
    #[must_use]
    pub fn with_filter(mut self, filter: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.change().protocol.filter.set(filter);
        self
    }

    /// Declares methods by their paths, such as `/store.v1.Store/Get`: they have labels of their own on metrics from
    /// the start. Other methods are learnt when they have answered `OK`.
    ///
    /// ```
    /// use tracecast_tower::GrpcServerLayer;
    ///
    /// let layer = GrpcServerLayer::new().with_methods(["/store.v1.Store/Get", "/store.v1.Store/Put"]);
    /// ```
    #[must_use]
    pub fn with_methods<'a>(self, paths: impl IntoIterator<Item = &'a str>) -> Self {
        let methods = METHODS.of(E::SIDE);
        paths.into_iter().for_each(|path| methods.learn(&methods.find(0, path)));
        self
    }

    /// Declares all methods of all services in an encoded `FileDescriptorSet`.
    ///
    /// With code that `tonic-prost-build` generates, `configure().file_descriptor_set_path(out_dir.join("store.bin"))`
    /// in `build.rs` writes the set, and `with_descriptor_set(tonic::include_file_descriptor_set!("store"))?` reads it.
    ///
    /// ```
    /// use tracecast_tower::GrpcServerLayer;
    ///
    /// assert!(GrpcServerLayer::new().with_descriptor_set(b"no descriptor set").is_err());
    /// ```
    ///
    /// # Errors
    /// Returns an error if the bytes are not a descriptor set, or if it has no methods.
    pub fn with_descriptor_set(self, set: &[u8]) -> Result<Self, DescriptorError> {
        let paths = descriptor::paths(set)?;
        Ok(self.with_methods(paths.iter().map(String::as_str)))
    }

    /// Replaces the span of a call that lasts longer than `every` with a new one, again and again, so that a long-lived
    /// stream is visible before it ends. Each span has the parent of the first, a link to the one before, its number as
    /// `tc.rpc.segment` and the messages that passed while it lasted; the last one has the status. Without a parent,
    /// the first span is the parent of the others, so all are in one trace. The span of an idle stream is replaced too,
    /// as long as a task waits for the stream.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tracecast_tower::GrpcServerLayer;
    ///
    /// let layer = GrpcServerLayer::new().with_max_span_duration(Duration::from_secs(60));
    /// ```
    #[must_use]
    pub fn with_max_span_duration(mut self, every: Duration) -> Self {
        self.change().protocol.roll_over = Some(every);
        self
    }
}
