//! The body of a request, which counts the messages that pass and notices when the sender goes away.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use tonic::Status;
use tonic::body::Body;

use crate::grpc::messages::{BodyEnd, Counts, Messages};
use crate::grpc::status;

/// A request's body; `C` holds the counts and other data of the call.
pub(crate) struct RequestBody<C> {
    inner: Body,
    messages: Messages,
    counts: Arc<C>,
}

impl<C: AsRef<Counts> + Send + Sync + 'static> RequestBody<C> {
    /// Wraps a body, so that it counts its messages.
    pub(crate) fn wrap(body: &mut Body, counts: Arc<C>) {
        let inner = std::mem::take(body);
        // tonic keeps this type as it is; it would box any other body once more, at the cost of a call per frame.
        let counting = UnsyncBoxBody::new(RequestBody { inner, messages: Messages::default(), counts });
        *body = Body::new(counting);
    }
}

impl<C: AsRef<Counts>> RequestBody<C> {
    /// Notes an abnormal end of the body. When a stream is reset, tonic may report a missing message, and hyper an end
    /// without an error.
    #[cold]
    fn note_end(&self, error: Option<&Status>) {
        let end = match error {
            Some(error) if status::is_sender_gone(error) => BodyEnd::Lost,
            None if self.messages.is_cut() && !self.inner.is_end_stream() => BodyEnd::Cut,
            _ => return,
        };
        (*self.counts).as_ref().set_end(end);
    }
}

impl<C: AsRef<Counts>> http_body::Body for RequestBody<C> {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(task);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(data) = frame.data_ref() {
                    self.messages.read(data);
                    (*self.counts).as_ref().store(&self.messages);
                }
            }
            Poll::Ready(ended) => self.note_end(ended.as_ref().and_then(|error| error.as_ref().err())),
            Poll::Pending => {}
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grpc::messages::Passed;
    use http_body_util::{BodyExt as _, Full};

    #[tokio::test]
    async fn a_body_says_how_long_it_is_and_when_it_has_ended() {
        let mut body = Body::new(Full::new(Bytes::from_static(b"\0\0\0\0\x02ab")));
        let counts = Arc::<Counts>::default();
        RequestBody::wrap(&mut body, counts.clone());
        assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(7), false));
        assert_eq!(counts.load(), Passed::default());
        assert!(body.frame().await.is_some());
        assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(0), true));
        assert_eq!(counts.load(), Passed { messages: 1, bytes: 2 });
    }
}
