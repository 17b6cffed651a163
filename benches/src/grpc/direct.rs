//! A layer without a network: callgrind counts a single call.

use std::convert::Infallible;
use std::future::Future;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body::{Body as _, Frame};
use tonic::Status;
use tonic::body::Body;
use tonic::transport::server::TcpConnectInfo;
use tower_service::Service;

use super::echo;

/// Makes calls to a service, each to its last frame as hyper does, with this `traceparent` if any.
pub fn call<S, B>(service: &mut S, traceparent: Option<&'static str>, calls: u64)
where
    S: Service<Request<Body>, Response = Response<B>>,
    B: http_body::Body,
{
    for _ in 0..calls {
        finish(service.call(served(traceparent)));
    }
}

/// Makes calls to a client's service in the same way.
pub fn call_out<S, B>(service: &mut S, calls: u64)
where
    S: Service<Request<Body>, Response = Response<B>>,
    B: http_body::Body,
{
    for _ in 0..calls {
        finish(service.call(request(1)));
    }
}

/// Makes one call to a service with messages in the request; [`Trivial`] sets their number in the response.
pub fn stream<S, B>(service: &mut S, traceparent: Option<&'static str>, messages: u64)
where
    S: Service<Request<Body>, Response = Response<B>>,
    B: http_body::Body,
{
    finish(service.call(with_parent(request(messages), traceparent)));
}

/// Builds the request of tonic's own client, with this number of messages.
fn request(messages: u64) -> Request<Body> {
    let mut request = Request::new(Body::new(Frames { messages, trailers: None }));
    *request.method_mut() = http::Method::POST;
    *request.uri_mut() = http::Uri::from_static("http://127.0.0.1:50051/bench.v1.Echo/Unary");
    *request.version_mut() = http::Version::HTTP_2;
    let headers = request.headers_mut();
    headers.insert(http::header::TE, HeaderValue::from_static("trailers"));
    headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert(http::header::USER_AGENT, HeaderValue::from_static("tonic/0.14.9"));
    request
}

/// Builds the same request as tonic's server passes it on.
fn served(traceparent: Option<&'static str>) -> Request<Body> {
    let mut request = with_parent(request(1), traceparent);
    let peer = Some(([127, 0, 0, 1], 40_000).into());
    request
        .extensions_mut()
        .insert(TcpConnectInfo { local_addr: Some(([127, 0, 0, 1], 50_051).into()), remote_addr: peer });
    request
}

fn with_parent(mut request: Request<Body>, traceparent: Option<&'static str>) -> Request<Body> {
    if let Some(traceparent) = traceparent {
        request.headers_mut().insert("traceparent", HeaderValue::from_static(traceparent));
    }
    request
}

/// Returns the message after its prefix of five bytes.
fn framed() -> Bytes {
    const FRAME: [u8; 5 + echo::MESSAGE.len()] = {
        let mut frame = [0; 5 + echo::MESSAGE.len()];
        frame[4] = echo::MESSAGE.len() as u8;
        let mut at = 0;
        while at < echo::MESSAGE.len() {
            frame[5 + at] = echo::MESSAGE[at];
            at += 1;
        }
        frame
    };
    Bytes::from_static(&FRAME)
}

/// Reads a response to its end, as hyper does.
pub fn finish<B: http_body::Body, E>(response: impl Future<Output = Result<Response<B>, E>>) {
    let mut task = Context::from_waker(Waker::noop());
    let Poll::Ready(Ok(response)) = pin!(response).poll(&mut task) else { unreachable!("the service answers at once") };
    let (head, body) = response.into_parts();
    black_box(head);
    let mut body = pin!(body);
    // As hyper does: the body is not polled after its end was announced or trailers were sent.
    while !body.is_end_stream() {
        let Poll::Ready(Some(Ok(frame))) = body.as_mut().poll_frame(&mut task) else { return };
        if black_box(&frame).is_trailers() {
            return;
        }
    }
}

/// Reads a request to its end and answers with messages and `OK`.
#[derive(Clone, Copy)]
pub struct Trivial(pub u64);

impl Service<Request<Body>> for Trivial {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        Answer { request: request.into_body(), messages: self.0 }
    }
}

/// The response of [`Trivial`].
pub struct Answer {
    request: Body,
    messages: u64,
}

impl Future for Answer {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        while let Poll::Ready(Some(frame)) = Pin::new(&mut self.request).poll_frame(task) {
            black_box(&frame);
        }
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", HeaderValue::from_static("0"));
        let mut response = Response::new(Body::new(Frames { messages: self.messages, trailers: Some(trailers) }));
        response.headers_mut().insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        Poll::Ready(Ok(response))
    }
}

/// A frame for each message, then trailers if there are any.
struct Frames {
    messages: u64,
    trailers: Option<HeaderMap>,
}

impl http_body::Body for Frames {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = match self.messages.checked_sub(1) {
            Some(left) => {
                self.messages = left;
                Some(Frame::data(framed()))
            }
            None => self.trailers.take().map(Frame::trailers),
        };
        Poll::Ready(frame.map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        self.messages == 0 && self.trailers.is_none()
    }
}
