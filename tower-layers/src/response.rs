//! The response of a call: a future until the headers arrive, then a body.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use http::Response;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tower_service::Service;

use crate::work::{Ongoing, Protocol};

pin_project! {
    /// The future of a call's response.
    #[must_use = "futures do nothing unless awaited"]
    pub struct ResponseFuture<F, P: Protocol> {
        // Declared before the call, so that the handler's spans end before the call's span when both are dropped.
        #[pin]
        pub(crate) inner: F,
        pub(crate) call: Option<P::Call>,
    }
}

impl<F, P: Protocol> ResponseFuture<F, P> {
    /// Wraps a call without telemetry.
    #[inline]
    pub(crate) fn plain(inner: F) -> Self {
        ResponseFuture { inner, call: None }
    }

    /// Calls a service, in the span of the call if it has one.
    #[inline(always)]
    pub(crate) fn start<S, R>(service: &mut S, request: R, mut call: Option<P::Call>) -> Self
    where
        S: Service<R, Future = F>,
    {
        let inner = match &mut call {
            Some(call) => call.run(|| service.call(request)),
            None => service.call(request),
        };
        ResponseFuture { inner, call }
    }

    /// Polls for the headers, and passes the response and the call to `answer`. An error ends the call.
    #[inline]
    pub(crate) fn poll_answer<B, E, A>(
        self: Pin<&mut Self>,
        task: &mut TaskContext<'_>,
        answer: impl FnOnce(Response<B>, Option<P::Call>) -> A,
    ) -> Poll<Result<A, E>>
    where
        F: Future<Output = Result<Response<B>, E>>,
        E: 'static,
    {
        let this = self.project();
        let Some(call) = this.call else { return this.inner.poll(task).map_ok(|response| answer(response, None)) };
        match call.run(|| this.inner.poll(task)) {
            Poll::Pending => {
                call.wait(task.waker());
                Poll::Pending
            }
            Poll::Ready(Ok(response)) => Poll::Ready(Ok(answer(response, this.call.take()))),
            Poll::Ready(Err(error)) => {
                call.fail(&error);
                *this.call = None;
                Poll::Ready(Err(error))
            }
        }
    }
}

impl<F, P: Protocol> fmt::Debug for ResponseFuture<F, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}

pin_project! {
    /// The body of a response, passed through unchanged. The call's span ends with it, or when it is dropped.
    pub struct ResponseBody<B, P: Protocol> {
        // Declared before the call, so that it is dropped first, as in `ResponseFuture`.
        #[pin]
        inner: B,
        call: Option<P::Call>,
        reading: <P::Call as Ongoing>::Reading,
    }
}

impl<B, P: Protocol> ResponseBody<B, P> {
    #[inline]
    pub(crate) fn new(inner: B, call: Option<P::Call>) -> Self {
        ResponseBody { inner, call, reading: Default::default() }
    }
}

impl<B: Body<Error: 'static>, P: Protocol> Body for ResponseBody<B, P> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let mut this = self.project();
        let Some(call) = this.call else { return this.inner.poll_frame(task) };
        let polled = call.run(|| this.inner.as_mut().poll_frame(task));
        match &polled {
            Poll::Pending => call.wait(task.waker()),
            Poll::Ready(frame) if call.is_told() => note(call, this.reading, frame, || this.inner.is_end_stream()),
            Poll::Ready(_) => {}
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

#[inline]
fn note<D: bytes::Buf, E: 'static, C: Ongoing>(
    call: &mut C,
    reading: &mut C::Reading,
    frame: &Option<Result<Frame<D>, E>>,
    was_last: impl FnOnce() -> bool,
) {
    match frame {
        Some(Ok(frame)) => {
            if let Some(data) = frame.data_ref() {
                call.read(reading, data);
            }
            // The body may not be polled after its last frame.
            if frame.is_trailers() || was_last() {
                call.complete(frame.trailers_ref());
            }
        }
        Some(Err(error)) => call.fail(error),
        None => call.complete(None),
    }
}

impl<B: Default, P: Protocol> Default for ResponseBody<B, P> {
    fn default() -> Self {
        ResponseBody::new(B::default(), None)
    }
}

impl<B: fmt::Debug, P: Protocol> fmt::Debug for ResponseBody<B, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBody").field("inner", &self.inner).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grpc::settings::GrpcCalls;
    use bytes::Bytes;
    use http_body_util::{BodyExt as _, Full};

    #[tokio::test]
    async fn a_body_says_how_long_it_is_and_when_it_has_ended() {
        check(Full::new(Bytes::from_static(b"0123456789"))).await;
        check(tonic::body::Body::new(Full::new(Bytes::from_static(b"0123456789")))).await;
    }

    async fn check<B: Body<Data = Bytes, Error: 'static> + Unpin>(inner: B) {
        let mut body = ResponseBody::<B, GrpcCalls>::new(inner, None);
        assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(10), false));
        assert!(body.frame().await.is_some());
        assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(0), true));
    }
}
