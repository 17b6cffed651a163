//! What the layers for gRPC were told.

use std::time::Duration;

use crate::filter::Filter;
use crate::grpc::descriptor::{self, DescriptorError};
use crate::grpc::method::METHODS;
use crate::trace_layer::{LayerSide, TraceLayer};

/// The protocol of layers for gRPC. It holds what only its layers are told.
#[derive(Clone, Debug, Default)]
pub struct GrpcCalls {
    filter: Filter<str>,
    /// On a server: a handler that panics answers `INTERNAL`.
    pub(crate) answers_panics: bool,
    /// On a server: how long any call may take, as somebody else sees to.
    pub(crate) timeout: Option<Duration>,
    /// After how long the span of a call is followed by another.
    pub(crate) roll_over: Option<Duration>,
    /// On a client: who is called, where requests do not say it.
    pub(crate) server: Option<(Box<str>, u16)>,
}

impl GrpcCalls {
    pub(crate) fn traces(&self, path: &str) -> bool {
        self.filter.takes(path).unwrap_or_else(|| is_of_interest(path))
    }
}

/// Health checks and reflection are not.
fn is_of_interest(path: &str) -> bool {
    path.strip_prefix("/grpc.").is_none_or(|rest| !rest.starts_with("health.") && !rest.starts_with("reflection."))
}

/// For servers and clients of gRPC.
impl<E: LayerSide> TraceLayer<GrpcCalls, E> {
    /// Traces the calls of those paths, as `/store.v1.Store/Get`, for which `filter` is true. On a server the others are
    /// transparent: the spans that they cause are children of the caller's. With those of a client, the context of whoever calls
    /// is sent.
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
        let methods = METHODS.of(E::SIDE);
        paths.into_iter().for_each(|path| methods.learn(&methods.find(0, path)));
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

    /// Ends the span of a call that lasts longer than this, and begins another one, again and again: so that a stream which
    /// lives for hours is seen meanwhile. Each has the parent of the first, a link to the one before, its number as
    /// `tc.rpc.segment` and what has passed while it lasted; the last one has the status. Without a parent, the first is the parent
    /// of the others: all are in one trace. A stream at which nothing happens is looked at too, unless nobody waits for it.
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
