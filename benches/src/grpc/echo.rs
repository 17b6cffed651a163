//! The service under test, written by hand: messages are bytes, which it sends back.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, BufMut, Bytes};
use tokio_stream::Stream;
use tonic::body::Body;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::server::NamedService;
use tonic::{Request, Response, Status};
use tower_service::Service;

pub const UNARY: &str = "/bench.v1.Echo/Unary";
pub const STREAM: &str = "/bench.v1.Echo/Stream";
/// Messages of a stream.
pub const MESSAGES: usize = 1_000;
/// The bytes that are sent and returned.
pub const MESSAGE: &[u8] = b"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// Messages are bytes.
#[derive(Clone, Copy, Default)]
pub struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Raw;
    type Decoder = Raw;

    fn encoder(&mut self) -> Raw {
        Raw
    }

    fn decoder(&mut self) -> Raw {
        Raw
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(message);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

#[derive(Clone, Copy)]
pub struct Echo;

impl NamedService for Echo {
    const NAME: &'static str = "bench.v1.Echo";
}

impl Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(async move {
            let mut grpc = tonic::server::Grpc::new(Raw);
            Ok(match request.uri().path() {
                UNARY => grpc.unary(tower::service_fn(unary), request).await,
                STREAM => grpc.server_streaming(tower::service_fn(stream), request).await,
                path => Status::unimplemented(path.to_owned()).into_http(),
            })
        })
    }
}

async fn unary(request: Request<Bytes>) -> Result<Response<Bytes>, Status> {
    Ok(Response::new(request.into_inner()))
}

type Messages = Pin<Box<dyn Stream<Item = Result<Bytes, Status>> + Send>>;

async fn stream(request: Request<Bytes>) -> Result<Response<Messages>, Status> {
    let message = request.into_inner();
    let messages = std::iter::repeat_with(move || Ok(message.clone())).take(MESSAGES);
    Ok(Response::new(Box::pin(tokio_stream::iter(messages))))
}
