//! The response of a gRPC call, whose body is tonic's.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use bytes::Bytes;
use http::{HeaderMap, Response};
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use tonic::Status;
use tonic::body::Body;

use crate::failed::BoxError;
use crate::grpc::call::Call;
use crate::grpc::settings::GrpcCalls;
use crate::grpc::status;
use crate::response::{self, ResponseBody};
use crate::work::Ongoing as _;

/// The future of a call's response.
pub type ResponseFuture<F> = response::ResponseFuture<F, GrpcCalls>;

impl<F, B, E> Future for response::ResponseFuture<F, GrpcCalls>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
    E: 'static,
{
    type Output = Result<Response<Body>, E>;

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        match &self.call {
            // With telemetry off, this is the only work.
            None => self.project().inner.poll(task).map_ok(with_body_of_tonic),
            Some(call) if !call.answers_panics() => self.poll_answer(task, answer),
            Some(_) => self.poll_answering(task),
        }
    }
}

impl<F> ResponseFuture<F> {
    #[cold]
    #[inline(never)]
    fn poll_answering<B, E>(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Result<Response<Body>, E>>
    where
        F: Future<Output = Result<Response<B>, E>>,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
        E: 'static,
    {
        // The future is not polled again, so its half-finished state cannot be seen.
        catch_unwind(AssertUnwindSafe(|| self.as_mut().poll_answer(task, answer))).unwrap_or_else(|_| {
            *self.project().call = None;
            Poll::Ready(Ok(internal().into_http()))
        })
    }
}

#[inline(always)]
fn answer<B>(response: Response<B>, call: Option<Call>) -> Response<Body>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    match call {
        Some(call) => watch(with_body_of_tonic(response), call),
        None => with_body_of_tonic(response),
    }
}

/// Returns the response with a body of tonic's type. A body of that type is not wrapped, and its response is not moved.
#[inline]
fn with_body_of_tonic<B>(response: Response<B>) -> Response<Body>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let mut response = Some(response);
    match (&mut response as &mut dyn Any).downcast_mut::<Option<Response<Body>>>() {
        Some(known) => known.take().unwrap_or_default(),
        None => response.map_or_else(Response::default, |response| response.map(Body::new)),
    }
}

/// Returns the status that answers a panic. The panic's message is for the operator and is not sent to the caller.
fn internal() -> Status {
    Status::internal("the handler panicked")
}

/// Follows a response to its end. If the end is known already, the body is not wrapped, because it may never be polled.
#[inline]
fn watch(mut response: Response<Body>, mut call: Call) -> Response<Body> {
    let http = response.status();
    if call.is_told() {
        let ended = || response.body().is_end_stream().then(|| status::of_http(http));
        if let Some(code) = status::of_headers(response.headers()).or_else(ended) {
            call.learn_server();
            call.end(code, || status::message_of(response.headers()));
            return response;
        }
        call.answered(http);
    } else if response.body().is_end_stream() {
        return response;
    }
    let answers_panics = call.answers_panics();
    let body = ResponseBody::new(std::mem::take(response.body_mut()), Some(call));
    // tonic keeps a body of this type as it is; it would box any other body once more, at the cost of a call per frame.
    let body = if answers_panics { UnsyncBoxBody::new(Answering(Some(body))) } else { UnsyncBoxBody::new(body) };
    *response.body_mut() = Body::new(body);
    response
}

/// A body that ends with a status if its handler panics. The inner body is `None` after the panic.
struct Answering(Option<ResponseBody<Body, GrpcCalls>>);

impl http_body::Body for Answering {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Some(body) = &mut self.0 else { return Poll::Ready(None) };
        catch_unwind(AssertUnwindSafe(|| Pin::new(body).poll_frame(task))).unwrap_or_else(|_| {
            self.0 = None;
            let mut trailers = HeaderMap::new();
            // Only metadata can make this fail, and this status has none.
            let _ = internal().add_header(&mut trailers);
            Poll::Ready(Some(Ok(Frame::trailers(trailers))))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(http_body::Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map_or_else(|| SizeHint::with_exact(0), http_body::Body::size_hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::{BodyExt as _, Full};
    use tonic::Code;

    #[tokio::test]
    async fn a_body_says_how_long_it_is_and_when_it_has_ended() {
        let inner = Body::new(Full::new(Bytes::from_static(b"0123456789")));
        let mut body = Answering(Some(ResponseBody::new(inner, None)));
        assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(10), false));
        assert!(body.frame().await.is_some());
        assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(0), true));
    }

    #[test]
    fn a_response_that_has_ended_keeps_its_body() {
        for status in [Status::not_found("x"), Status::new(Code::Ok, "")] {
            let mut call = None;
            Call::answer_panics(&mut call);
            let response = watch(status.into_http(), call.unwrap());
            assert!(response.body().is_end_stream());
        }
    }
}
