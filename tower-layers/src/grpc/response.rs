//! The response: a future until its headers are there, then a body until its trailers are.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use pin_project_lite::pin_project;
use tonic::body::Body;
use tonic::{Code, Status};
use tower_service::Service;

use crate::BoxError;
use crate::grpc::call::Call;
use crate::grpc::status;

pin_project! {
    /// A call whose response is awaited.
    #[must_use = "futures do nothing unless awaited"]
    pub struct ResponseFuture<F> {
        // In front of the call: what the handler began ends before its span does.
        #[pin]
        inner: F,
        call: Option<Call>,
        answers_panics: bool,
    }
}

impl<F> ResponseFuture<F> {
    /// A call of which there is nothing to tell, and in which nothing is current.
    #[inline]
    pub(crate) fn plain(inner: F, answers_panics: bool) -> Self {
        ResponseFuture { inner, call: None, answers_panics }
    }

    /// Calls a service, in the span of the call if it has one.
    pub(crate) fn start<S>(
        service: &mut S,
        request: Request<Body>,
        mut call: Option<Call>,
        answers_panics: bool,
    ) -> Self
    where
        S: Service<Request<Body>, Future = F>,
    {
        let inner = match &mut call {
            Some(call) => call.run(|| service.call(request)),
            None => service.call(request),
        };
        ResponseFuture { inner, call, answers_panics }
    }
}

impl<F, B, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
    E: 'static,
{
    type Output = Result<Response<Body>, E>;

    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let inner = this.inner;
        if this.call.is_none() && !*this.answers_panics {
            return inner.poll(task).map_ok(|response| response.map(body));
        }
        let polled = match this.call {
            Some(call) => answered(*this.answers_panics, || call.run(|| inner.poll(task))),
            None => answered(*this.answers_panics, || inner.poll(task)),
        };
        let result = match polled {
            Ok(Poll::Pending) => {
                this.call.iter_mut().for_each(|call| call.wait(task.waker()));
                return Poll::Pending;
            }
            Ok(Poll::Ready(result)) => result,
            Err(Panicked) => {
                this.call.take().into_iter().for_each(|mut call| call.end_panicked(Code::Internal));
                return Poll::Ready(Ok(internal().into_http()));
            }
        };
        let answers_panics = *this.answers_panics;
        Poll::Ready(match (result, this.call.take()) {
            (Ok(response), call) => Ok(watch(response.map(body), call, answers_panics)),
            (Err(error), Some(mut call)) => {
                let (code, message) = status::of_error(&error as &dyn Any);
                call.end(code, || message);
                Err(error)
            }
            (Err(error), None) => Err(error),
        })
    }
}

/// As tonic has it. One that is so already is not asked whether it has ended.
fn body<B>(body: B) -> Body
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let mut body = Some(body);
    match (&mut body as &mut dyn Any).downcast_mut::<Option<Body>>() {
        Some(known) => known.take().unwrap_or_default(),
        None => body.map_or_else(Body::empty, Body::new),
    }
}

struct Panicked;

/// Runs a poll of a handler, whose panic goes on unless it is to be answered.
fn answered<R>(answers_panics: bool, poll: impl FnOnce() -> R) -> Result<R, Panicked> {
    if !answers_panics {
        return Ok(poll());
    }
    // Nobody polls it again, so nobody sees what it left half done.
    catch_unwind(AssertUnwindSafe(poll)).map_err(|_| Panicked)
}

/// Says nothing of what the panic said: that is for the operator, not for the caller.
fn internal() -> Status {
    Status::internal("the handler panicked")
}

/// Follows a response to its end. If that is known by now, nobody may ever poll the body.
fn watch(response: Response<Body>, mut call: Option<Call>, answers_panics: bool) -> Response<Body> {
    let http = response.status();
    if (call.is_none() && !answers_panics) || (response.body().is_end_stream() && !is_told(&call)) {
        return response;
    }
    if is_told(&call) {
        let ended = || response.body().is_end_stream().then(|| status::of_http(http));
        if let Some(code) = status::of_headers(response.headers()).or_else(ended) {
            call.iter_mut().for_each(|call| call.end(code, || status::message_of(response.headers())));
            return response;
        }
        call.iter_mut().for_each(|call| call.answered(http));
    }
    // As tonic keeps it: what it would make of another kind of body passes each frame through one more hand.
    response.map(|inner| Body::new(UnsyncBoxBody::new(ResponseBody { inner, call, http, answers_panics })))
}

fn is_told(call: &Option<Call>) -> bool {
    call.as_ref().is_some_and(Call::is_told)
}

/// The body of a response. Its call ends with the trailers, after which nobody polls it again.
struct ResponseBody {
    // In front of the call, as in the future.
    inner: Body,
    call: Option<Call>,
    http: StatusCode,
    answers_panics: bool,
}

impl ResponseBody {
    fn poll_inner(&mut self, task: &mut TaskContext<'_>) -> Result<Polled, Panicked> {
        let inner = Pin::new(&mut self.inner);
        match &mut self.call {
            Some(call) => answered(self.answers_panics, || call.run(|| inner.poll_frame(task))),
            None => answered(self.answers_panics, || inner.poll_frame(task)),
        }
    }

    fn note(&mut self, polled: &Option<Result<Frame<Bytes>, Status>>) {
        let Some(call) = self.call.as_mut().filter(|call| call.is_told()) else { return };
        match polled {
            Some(Ok(frame)) => {
                if let Some(trailers) = frame.trailers_ref() {
                    let code = status::of_headers(trailers).unwrap_or_else(|| status::of_http(self.http));
                    return call.end(code, || status::message_of(trailers));
                }
                frame.data_ref().into_iter().for_each(|data| call.read(data));
                if self.inner.is_end_stream() {
                    call.end(status::of_http(self.http), String::new);
                }
            }
            Some(Err(error)) => {
                let (code, message) = status::of_chain(error);
                call.end(code, || message);
            }
            None => call.end(status::of_http(self.http), String::new),
        }
    }

    /// Ends a stream whose handler panicked.
    fn answer_panic(&mut self) -> Frame<Bytes> {
        self.call.take().into_iter().for_each(|mut call| call.end_panicked(Code::Internal));
        self.inner = Body::empty();
        let mut trailers = HeaderMap::new();
        // The status has no metadata that could be too much.
        let _ = internal().add_header(&mut trailers);
        Frame::trailers(trailers)
    }
}

type Polled = Poll<Option<Result<Frame<Bytes>, Status>>>;

impl http_body::Body for ResponseBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Polled {
        match self.poll_inner(task) {
            Ok(polled) => {
                match &polled {
                    Poll::Ready(frame) => self.note(frame),
                    Poll::Pending => self.call.iter_mut().for_each(|call| call.wait(task.waker())),
                }
                polled
            }
            Err(Panicked) => Poll::Ready(Some(Ok(self.answer_panic()))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::{BodyExt as _, Full};

    fn body() -> ResponseBody {
        let inner = Body::new(Full::new(Bytes::from_static(b"0123456789")));
        ResponseBody { inner, call: None, http: StatusCode::OK, answers_panics: false }
    }

    #[tokio::test]
    async fn a_body_says_how_long_it_is_and_when_it_has_ended() {
        let mut body = body();
        assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(10), false));
        assert!(body.frame().await.is_some());
        assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(0), true));
    }

    #[test]
    fn a_response_that_has_ended_keeps_its_body() {
        for status in [Status::not_found("x"), Status::new(Code::Ok, "")] {
            let response = watch(status.into_http(), None, true);
            assert!(response.body().is_end_stream());
        }
    }
}
