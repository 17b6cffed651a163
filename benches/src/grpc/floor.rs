//! The hand-written layer, for gRPC and for HTTP.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response, header};
use http_body::{Frame, SizeHint};
use tonic::body::Body;
use tower_layer::Layer;
use tower_service::Service;

use super::by_hand::Call;

/// The differences between gRPC and HTTP: a request's body is `R`, a response's is `B`.
pub trait Protocol<R, B> {
    type Out;

    fn begin(request: &mut Request<R>) -> Option<Call>;

    fn follow(body: B, call: Option<Call>) -> Self::Out;
}

#[derive(Clone, Copy)]
pub struct Grpc;

impl Protocol<Body, Body> for Grpc {
    type Out = Body;

    #[inline]
    fn begin(request: &mut Request<Body>) -> Option<Call> {
        let call = Call::begin(request, request.uri().path(), &[])?;
        if call.observed.is_some() {
            let inner = std::mem::take(request.body_mut());
            *request.body_mut() = Body::new(Followed { inner, call: Some(call.clone()), is_request: true });
        }
        Some(call)
    }

    #[inline]
    fn follow(inner: Body, call: Option<Call>) -> Body {
        if call.is_some() { Body::new(Followed { inner, call, is_request: false }) } else { inner }
    }
}

#[derive(Clone, Copy)]
pub struct Http;

impl<R, B: http_body::Body<Data = Bytes> + Unpin> Protocol<R, B> for Http {
    type Out = Followed<B>;

    #[inline]
    fn begin(request: &mut Request<R>) -> Option<Call> {
        // As a router provides it.
        Call::begin(request, "/items/{id}", &[header::HOST, header::USER_AGENT])
    }

    #[inline]
    fn follow(inner: B, call: Option<Call>) -> Followed<B> {
        Followed { inner, call, is_request: false }
    }
}

#[derive(Clone, Copy)]
pub struct Floor<P>(pub P);

#[derive(Clone, Copy)]
pub struct Served<S, P>(S, P);

impl<S, P: Copy> Layer<S> for Floor<P> {
    type Service = Served<S, P>;

    fn layer(&self, inner: S) -> Self::Service {
        Served(inner, self.0)
    }
}

impl<S, P, R, B> Service<Request<R>> for Served<S, P>
where
    S: Service<Request<R>, Response = Response<B>>,
    S::Future: Unpin,
    P: Protocol<R, B> + Unpin,
{
    type Response = Response<P::Out>;
    type Error = S::Error;
    type Future = Following<S::Future, P, R>;

    fn poll_ready(&mut self, task: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(task)
    }

    #[inline]
    fn call(&mut self, mut request: Request<R>) -> Self::Future {
        let call = P::begin(&mut request);
        let inner = match &call {
            Some(call) => call.run(|| self.0.call(request)),
            None => self.0.call(request),
        };
        Following { inner, call, kinds: PhantomData }
    }
}

/// The response of a call.
pub struct Following<F, P, R> {
    inner: F,
    call: Option<Call>,
    kinds: PhantomData<fn() -> (P, R)>,
}

impl<F, P, R, B, E> Future for Following<F, P, R>
where
    F: Future<Output = Result<Response<B>, E>> + Unpin,
    P: Protocol<R, B>,
{
    type Output = Result<Response<P::Out>, E>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let polled = match &this.call {
            Some(call) => call.run(|| Pin::new(&mut this.inner).poll(task)),
            None => Pin::new(&mut this.inner).poll(task),
        };
        polled.map_ok(|response| response.map(|body| P::follow(body, this.call.take())))
    }
}

/// A counted body; the end of a response's body ends the call, even if it is dropped early.
pub struct Followed<B> {
    inner: B,
    call: Option<Call>,
    is_request: bool,
}

impl<B> Drop for Followed<B> {
    fn drop(&mut self) {
        if let (Some(Call { observed: Some(observed), .. }), false) = (&self.call, self.is_request) {
            observed.end();
        }
    }
}

impl<B: http_body::Body<Data = Bytes> + Unpin> http_body::Body for Followed<B> {
    type Data = Bytes;
    type Error = B::Error;

    #[inline]
    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = &mut *self;
        let Some(call) = &this.call else { return Pin::new(&mut this.inner).poll_frame(task) };
        let polled = call.run(|| Pin::new(&mut this.inner).poll_frame(task));
        if let (Poll::Ready(Some(Ok(frame))), Some(observed)) = (&polled, &call.observed) {
            match (frame.data_ref(), frame.trailers_ref()) {
                (Some(data), _) if this.is_request => observed.request.count(data),
                (Some(data), _) => {
                    observed.sent_first_byte();
                    observed.response.count(data);
                }
                (_, Some(trailers)) if !this.is_request => observed.has_trailers(trailers),
                _ => {}
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
