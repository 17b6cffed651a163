//! The body of a response, with which an exchange ends.

use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use bytes::Buf;
use http::Response;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::exchange::{Ending, Exchange};

pin_project! {
    /// The body of a response, which passes as it is. The span of its exchange ends with it, or when it is dropped.
    pub struct ResponseBody<B> {
        // In front of the exchange: what the handler began ends before its span does.
        #[pin]
        inner: B,
        exchange: Option<Exchange>,
    }
}

impl<B: Body> ResponseBody<B> {
    /// Follows a response to its end. If that is known by now, nobody may ever poll the body.
    pub(crate) fn watch(response: Response<B>, mut exchange: Option<Exchange>) -> Response<Self> {
        exchange.iter_mut().for_each(|exchange| exchange.answer(&response));
        response.map(|inner| ResponseBody { inner, exchange })
    }
}

impl<B: Body<Error: 'static>> Body for ResponseBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let mut this = self.project();
        let Some(exchange) = this.exchange else { return this.inner.poll_frame(task) };
        let polled = exchange.run(|| this.inner.as_mut().poll_frame(task));
        if let Poll::Ready(frame) = &polled {
            note(exchange, frame, this.inner.is_end_stream());
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

fn note<D: Buf, E: 'static>(exchange: &mut Exchange, frame: &Option<Result<Frame<D>, E>>, was_last: bool) {
    match frame {
        Some(Ok(frame)) => {
            frame.data_ref().into_iter().for_each(|data| exchange.read(data.remaining()));
            // After the last frame nobody polls again.
            if was_last || frame.is_trailers() {
                exchange.end(Ending::Complete);
            }
        }
        Some(Err(error)) => exchange.fail(error),
        None => exchange.end(Ending::Complete),
    }
}

impl<B: Default> Default for ResponseBody<B> {
    fn default() -> Self {
        ResponseBody { inner: B::default(), exchange: None }
    }
}

impl<B: std::fmt::Debug> std::fmt::Debug for ResponseBody<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResponseBody").field("inner", &self.inner).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use http_body_util::{BodyExt as _, Full};

    #[tokio::test]
    async fn a_body_says_how_long_it_is_and_when_it_has_ended() {
        let response = Response::new(Full::new(Bytes::from_static(b"0123456789")));
        let mut body = ResponseBody::watch(response, None).into_body();
        assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(10), false));
        assert!(body.frame().await.is_some());
        assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(0), true));
    }
}
