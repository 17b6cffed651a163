//! A layer with as little as follows a call to its end, written by hand to be compared with: no spans, metrics or contexts.
//!
//! It looks for the caller's header and does not parse it. It counts nothing but the frames of both bodies, and looks for the status.
//! Bodies are boxed as tonic keeps them.

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body::{Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use tonic::Status;
use tonic::body::Body;
use tower_layer::Layer;
use tower_service::Service;

/// With `COUNTS` it counts both bodies and reads the clock twice; without, it follows the response alone.
#[derive(Clone, Copy, Default)]
pub struct Floor<const COUNTS: bool>;

#[derive(Clone, Copy)]
pub struct Followed<S, const COUNTS: bool>(S);

impl<S, const COUNTS: bool> Layer<S> for Floor<COUNTS> {
    type Service = Followed<S, COUNTS>;

    fn layer(&self, inner: S) -> Self::Service {
        Followed(inner)
    }
}

impl<S, const COUNTS: bool> Service<Request<Body>> for Followed<S, COUNTS>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Unpin,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Following<S::Future, COUNTS>;

    fn poll_ready(&mut self, task: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(task)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        black_box(named(request.headers(), "traceparent"));
        let call = COUNTS.then(|| {
            let call = Arc::new(Call { began: Instant::now(), frames: AtomicU64::new(0) });
            follow(request.body_mut(), Some(call.clone()));
            call
        });
        Following { inner: self.0.call(request), call }
    }
}

/// Of few headers, to look at each is quicker than to hash.
#[inline(always)]
fn named<'h>(headers: &'h HeaderMap, name: &'static str) -> Option<&'h HeaderValue> {
    headers.iter().find(|(known, _)| known.as_str() == name).map(|(_, value)| value)
}

struct Call {
    began: Instant,
    frames: AtomicU64,
}

/// The response of a call.
pub struct Following<F, const COUNTS: bool> {
    inner: F,
    call: Option<Arc<Call>>,
}

impl<F, E, const COUNTS: bool> Future for Following<F, COUNTS>
where
    F: Future<Output = Result<Response<Body>, E>> + Unpin,
{
    type Output = Result<Response<Body>, E>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let mut polled = Pin::new(&mut self.inner).poll(task);
        if let Poll::Ready(Ok(response)) = &mut polled {
            follow(response.body_mut(), self.call.take());
        }
        polled
    }
}

fn follow(body: &mut Body, call: Option<Arc<Call>>) {
    let inner = std::mem::take(body);
    *body = Body::new(UnsyncBoxBody::new(FollowedBody { inner, call }));
}

struct FollowedBody {
    inner: Body,
    call: Option<Arc<Call>>,
}

impl http_body::Body for FollowedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(task);
        if let (Poll::Ready(Some(Ok(frame))), Some(call)) = (&polled, &self.call) {
            call.frames.store(call.frames.load(Relaxed) + 1, Relaxed);
            if let Some(trailers) = frame.trailers_ref() {
                black_box((named(trailers, "grpc-status"), call.began.elapsed()));
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
