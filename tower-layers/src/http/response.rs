//! The response of an HTTP request.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use http::Response;
use http_body::Body;

use super::exchange::Exchange;
use super::settings::HttpRequests;
use crate::response;

/// The future of a request's response.
pub type ResponseFuture<F> = response::ResponseFuture<F, HttpRequests>;

/// The body of a response, passed through unchanged. The request's span ends with it, or when it is dropped.
pub type ResponseBody<B> = response::ResponseBody<B, HttpRequests>;

impl<F, B, E> Future for response::ResponseFuture<F, HttpRequests>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: Body,
    E: 'static,
{
    type Output = Result<Response<ResponseBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        self.poll_answer(task, watch)
    }
}

/// Follows a response to its end. An empty body may never be polled, so it ends the exchange here.
fn watch<B: Body>(response: Response<B>, mut exchange: Option<Exchange>) -> Response<ResponseBody<B>> {
    exchange.iter_mut().for_each(|exchange| exchange.answer(&response));
    response.map(|inner| ResponseBody::new(inner, exchange))
}
