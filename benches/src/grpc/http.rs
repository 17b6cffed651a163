//! The HTTP server layer, around a service that is called without a network.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::hint::black_box;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, Uri, header};
use http_body::Frame;
use opentelemetry_instrumentation_tower::http::server::Layer as OtelTowerLayer;
use tower_http::trace::TraceLayer;
use tower_layer::{Identity, Layer};
use tower_service::Service;
use tracecast_tower::HttpServerLayer;

use super::by_hand;
use super::case::Case;
use super::direct::finish;
use super::echo::MESSAGE;
use super::floor::{Floor, Http};
use super::variants::{SAMPLED, UNSAMPLED, nothing, our_spans, ours, sdk};

macro_rules! layer {
    ($traceparent:expr, $layer:expr) => {
        |requests| call(&mut $layer.layer(Trivial), $traceparent, requests)
    };
}

const NONE: &str = "HTTP server: no layer";
const NONE_ROOT: &str = "HTTP server: no layer, no traceparent";
pub const SAMPLED_NAME: &str = "HTTP server: tracecast, sampled, with metrics";
pub const OFF_NAME: &str = "HTTP server: tracecast, off, no traceparent";

const PEER: &str = "HTTP server: opentelemetry-instrumentation-tower, with metrics";
const IDLE_PEER: &str = "HTTP server: tower-http TraceLayer, no subscriber";

pub const CASES: &[Case] = &[
    Case::new(NONE, NONE, nothing, layer!(SAMPLED, Identity::new())),
    Case::new(NONE_ROOT, NONE_ROOT, nothing, layer!(None, Identity::new())),
    Case::new(SAMPLED_NAME, NONE, ours, layer!(SAMPLED, ours_around())).records(10).target(3_500.0, PEER),
    Case::new("HTTP server: tracecast, unsampled, with metrics", NONE, ours, layer!(UNSAMPLED, ours_around())),
    Case::new("HTTP server: tracecast, unsampled, no metrics", NONE, our_spans, layer!(UNSAMPLED, ours_around())),
    Case::new("HTTP server: tracecast, off", NONE, nothing, layer!(SAMPLED, ours_around())),
    Case::new(OFF_NAME, NONE_ROOT, nothing, layer!(None, ours_around())).target(200.0, IDLE_PEER),
    Case::new("HTTP server: by hand, sampled, with metrics", NONE, by_hand::both, layer!(SAMPLED, Floor(Http))),
    Case::new("HTTP server: by hand, off, no traceparent", NONE_ROOT, nothing, layer!(None, Floor(Http))),
    Case::new(IDLE_PEER, NONE, nothing, layer!(SAMPLED, TraceLayer::new_for_http())),
    Case::new(PEER, NONE, sdk, layer!(SAMPLED, OtelTowerLayer::new())).records(10),
];

/// The route is known, as from a router.
fn ours_around() -> HttpServerLayer {
    HttpServerLayer::new().with_route(|_| Some("/items/{id}"))
}

fn call<S, B>(service: &mut S, traceparent: Option<&'static str>, requests: u64)
where
    S: Service<Request<Whole>, Response = Response<B>>,
    B: http_body::Body,
{
    for _ in 0..requests {
        finish(service.call(request(traceparent)));
    }
}

/// Builds a request as an HTTP/1.1 server passes it on.
fn request(traceparent: Option<&'static str>) -> Request<Whole> {
    let mut request = Request::new(Whole(None));
    *request.uri_mut() = Uri::from_static("/items/7");
    let headers = request.headers_mut();
    headers.insert(header::HOST, HeaderValue::from_static("127.0.0.1:8080"));
    headers.insert(header::ACCEPT, HeaderValue::from_static("*/*"));
    headers.insert(header::USER_AGENT, HeaderValue::from_static("curl/8.14.1"));
    if let Some(traceparent) = traceparent {
        headers.insert("traceparent", HeaderValue::from_static(traceparent));
    }
    request.extensions_mut().insert(SocketAddr::from(([127, 0, 0, 1], 40_000)));
    request
}

/// Answers with a few bytes.
#[derive(Clone, Copy)]
struct Trivial;

impl Service<Request<Whole>> for Trivial {
    type Response = Response<Whole>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Whole>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Whole>) -> Self::Future {
        black_box(request);
        let mut response = Response::new(Whole(Some(Bytes::from_static(MESSAGE))));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        ready(Ok(response))
    }
}

/// A body in one frame, or none.
#[derive(Default)]
struct Whole(Option<Bytes>);

impl http_body::Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(Frame::data).map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(self.0.as_ref().map_or(0, |data| data.len() as u64))
    }
}
