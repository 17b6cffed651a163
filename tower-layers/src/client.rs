//! The client's side.

use std::task::{Context as TaskContext, Poll};

use bytes::Bytes;
use http::{Request, Response};
use tonic::body::Body;
use tower_layer::Layer;
use tower_service::Service;
use tracecast::{Context, propagation};

use crate::call::{self, Call, Place};
use crate::headers::HttpHeadersMut;
use crate::response::ResponseFuture;
use crate::settings::Settings;
use crate::status::{BoxError, Side};

/// Makes a span of each call, below the current one, and sends its context along.
#[derive(Clone, Debug, Default)]
pub struct GrpcClientLayer {
    settings: Settings,
}

impl GrpcClientLayer {
    /// Traces all calls but health checks and reflection.
    pub fn new() -> Self {
        GrpcClientLayer::default()
    }

    /// Traces the calls of those paths, as `/store.v1.Store/Get`, for which `filter` is true. With the others, the context of
    /// whoever calls is sent.
    #[must_use]
    pub fn with_filter(mut self, filter: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.settings = self.settings.with_filter(filter);
        self
    }

    /// Keeps the baggage here: for servers of others.
    #[must_use]
    pub fn without_baggage(mut self) -> Self {
        self.settings.sends_baggage = false;
        self
    }
}

impl<S> Layer<S> for GrpcClientLayer {
    type Service = GrpcClient<S>;

    fn layer(&self, inner: S) -> GrpcClient<S> {
        GrpcClient { inner, settings: self.settings.clone() }
    }
}

/// A client's service whose calls are spans. Made by [`GrpcClientLayer`].
#[derive(Clone, Debug)]
pub struct GrpcClient<S> {
    inner: S,
    settings: Settings,
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

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        ResponseFuture::start(&mut self.inner, begin(request, &self.settings), false)
    }
}

fn begin(mut request: Request<Body>, settings: &Settings) -> (Request<Body>, Option<Call>) {
    let path = request.uri().path();
    if !settings.traces(path) {
        send(&Context::current(), &mut request, settings);
        return (request, None);
    }
    let (span, method) = call::start(Side::Client, path, None);
    let context = if span.is_none() { Context::current() } else { span.context() };
    send(&context, &mut request, settings);
    let place = if span.is_none() { Place::Unchanged } else { Place::Span(span) };
    Call::begin(Side::Client, place, method, request, None)
}

fn send(context: &Context, request: &mut Request<Body>, settings: &Settings) {
    let mut headers = HttpHeadersMut::from(request.headers_mut());
    if settings.sends_baggage {
        propagation::inject(context, &mut headers);
    } else {
        propagation::inject(&context.without_baggage(), &mut headers);
    }
}
