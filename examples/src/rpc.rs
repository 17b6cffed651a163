//! gRPC without generated code: messages are structs that derive `prost::Message`; methods are matched by path.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use tokio_stream::Stream;
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::codegen::Service;
use tonic::codegen::http::{self, uri::PathAndQuery};
use tonic::server::NamedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;
use tower::{Layer, service_fn};
use tracecast_tower::{GrpcClientLayer, TracedChannel};

/// The methods of a service.
pub(crate) trait Methods: Clone + Send + 'static {
    /// The service's full name.
    const NAME: &'static str;

    /// Answers a call, with [`unary`] or [`streaming`].
    fn answer(self, request: http::Request<Body>) -> impl Future<Output = http::Response<Body>> + Send;
}

/// Adapts `Methods` to tonic's service trait.
#[derive(Clone)]
pub(crate) struct Served<M>(pub(crate) M);

impl<M: Methods> NamedService for Served<M> {
    const NAME: &'static str = M::NAME;
}

impl<M: Methods> Service<http::Request<Body>> for Served<M> {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let methods = self.0.clone();
        Box::pin(async move { Ok(methods.answer(request).await) })
    }
}

/// Answers a call of one message with one message.
pub(crate) async fn unary<Q, A, F>(request: http::Request<Body>, handler: impl FnOnce(Q) -> F) -> http::Response<Body>
where
    Q: prost::Message + Default + 'static,
    A: prost::Message + 'static,
    F: Future<Output = Result<A, Status>>,
{
    let mut handler = Some(handler);
    let service = service_fn(|request: Request<Q>| {
        // tonic calls this method once per call.
        let answer = handler.take().map(|handler| handler(request.into_inner()));
        async { answer.ok_or_else(|| Status::internal("called twice"))?.await.map(Response::new) }
    });
    tonic::server::Grpc::new(ProstCodec::<A, Q>::default()).unary(service, request).await
}

/// Answers a call of one message with a stream of messages.
pub(crate) async fn streaming<Q, A, S>(
    request: http::Request<Body>,
    handler: impl FnOnce(Q) -> Result<S, Status>,
) -> http::Response<Body>
where
    Q: prost::Message + Default + 'static,
    A: prost::Message + 'static,
    S: Stream<Item = Result<A, Status>> + Send + 'static,
{
    let mut handler = Some(handler);
    let service = service_fn(|request: Request<Q>| {
        let answer = handler.take().map(|handler| handler(request.into_inner()));
        async { answer.ok_or_else(|| Status::internal("called twice"))?.map(Response::new) }
    });
    tonic::server::Grpc::new(ProstCodec::<A, Q>::default()).server_streaming(service, request).await
}

/// Answers a call of an unknown method.
pub(crate) fn unimplemented(request: &http::Request<Body>) -> http::Response<Body> {
    Status::unimplemented(request.uri().path().to_owned()).into_http()
}

/// Returns a channel to `host:port` with a span per call. It connects at the first call.
pub(crate) fn channel(address: &str) -> Result<TracedChannel, Status> {
    let endpoint = Endpoint::from_shared(format!("http://{address}"));
    let endpoint = endpoint.map_err(|error| Status::invalid_argument(format!("`{address}`: {error}")))?;
    let channel: Channel = endpoint.connect_lazy();
    Ok(GrpcClientLayer::new().layer(channel))
}

/// Sends one message and receives one.
pub(crate) async fn call<Q, A>(channel: &TracedChannel, path: &'static str, message: Q) -> Result<A, Status>
where
    Q: prost::Message + 'static,
    A: prost::Message + Default + 'static,
{
    let mut client = ready(channel).await?;
    let answer = client.unary(Request::new(message), PathAndQuery::from_static(path), ProstCodec::default());
    answer.await.map(Response::into_inner)
}

/// Sends one message and receives a stream of them.
pub(crate) async fn open<Q, A>(channel: &TracedChannel, path: &'static str, message: Q) -> Result<Streaming<A>, Status>
where
    Q: prost::Message + 'static,
    A: prost::Message + Default + 'static,
{
    let mut client = ready(channel).await?;
    let answer = client.server_streaming(Request::new(message), PathAndQuery::from_static(path), ProstCodec::default());
    answer.await.map(Response::into_inner)
}

async fn ready(channel: &TracedChannel) -> Result<Grpc<TracedChannel>, Status> {
    let mut client = Grpc::new(channel.clone());
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    Ok(client)
}
