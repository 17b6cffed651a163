//! The time until the headers of a response are there.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll, ready};

use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use tower_service::Service;

use super::body::ResponseBody;
use super::exchange::Exchange;

pin_project! {
    /// A request whose response is awaited.
    #[must_use = "futures do nothing unless awaited"]
    pub struct ResponseFuture<F> {
        // In front of the exchange: what the handler began ends before its span does.
        #[pin]
        inner: F,
        exchange: Option<Exchange>,
    }
}

impl<F> ResponseFuture<F> {
    /// Calls a service, in the span of the exchange if it has one.
    pub(crate) fn start<S, B>(service: &mut S, request: Request<B>, mut exchange: Option<Exchange>) -> Self
    where
        S: Service<Request<B>, Future = F>,
    {
        let inner = match &mut exchange {
            Some(exchange) => exchange.run(|| service.call(request)),
            None => service.call(request),
        };
        ResponseFuture { inner, exchange }
    }
}

impl<F, B, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: Body,
    E: 'static,
{
    type Output = Result<Response<ResponseBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let inner = this.inner;
        let result = ready!(match this.exchange {
            Some(exchange) => exchange.run(|| inner.poll(task)),
            None => inner.poll(task),
        });
        let mut exchange = this.exchange.take();
        Poll::Ready(match result {
            Ok(response) => Ok(ResponseBody::watch(response, exchange)),
            Err(error) => {
                exchange.iter_mut().for_each(|exchange| exchange.fail(&error));
                Err(error)
            }
        })
    }
}

impl<F> std::fmt::Debug for ResponseFuture<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
