//! The client's layer as middleware for clients of reqwest.
//!
//! Implements `reqwest-middleware`'s trait, so that requests are built and sent as with a `reqwest::Client`, by
//! `client.get(..).send()`. A layer around a `reqwest::Client`, which is a tower service, would offer only
//! `call(request)`; and a layer in `reqwest::ClientBuilder::connector_layer` sees connections, not requests.

use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context as TaskContext, Poll};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Extensions, Uri};
use http_body::{Body as _, Frame, SizeHint};
use reqwest::{Body, Request, Response, ResponseBuilderExt as _};
use reqwest_middleware::{Middleware, Next};

use super::client;
use super::exchange::Exchange;
use super::response::{ResponseBody, ResponseFuture};
use super::settings::HttpRequests;
use crate::trace_layer::{ClientSide, Settings, TraceLayer};

#[async_trait]
impl Middleware for TraceLayer<HttpRequests, ClientSide> {
    async fn handle(
        &self,
        mut request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<Response> {
        let Some(exchange) = begin(&mut request, &self.settings) else { return next.run(request, extensions).await };
        let inner = async { next.run(request, extensions).await.map(into_http) };
        let answered = ResponseFuture { inner, call: Some(exchange) }.await;
        answered.map(|response| response.map(|body| Body::wrap(Shareable(Mutex::new(body)))).into())
    }
}

fn begin(request: &mut Request, settings: &Settings<HttpRequests, ClientSide>) -> Option<Exchange> {
    // reqwest rejects a URL that is not a valid URI.
    let uri: Uri = request.url().as_str().parse().ok()?;
    let size = request.body().map_or(Some(0), |body| body.size_hint().exact());
    let mut head = http::Request::new(());
    *head.method_mut() = request.method().clone();
    *head.uri_mut() = uri;
    std::mem::swap(head.headers_mut(), request.headers_mut());
    let exchange = client::begin(&mut head, size, settings);
    std::mem::swap(head.headers_mut(), request.headers_mut());
    exchange
}

/// Keeps the URL, which the conversion drops.
fn into_http(response: Response) -> http::Response<Body> {
    let url = http::Response::builder().url(response.url().clone()).body(());
    let mut response = http::Response::from(response);
    if let Ok(url) = url {
        response.extensions_mut().extend(url.into_parts().0.extensions);
    }
    response
}

/// A body that is `Sync`, as reqwest requires; a span is not. The lock is never contended: through a shared reference
/// only the size and the end are read.
struct Shareable(Mutex<ResponseBody<Body>>);

impl Shareable {
    fn lock(&self) -> MutexGuard<'_, ResponseBody<Body>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl http_body::Body for Shareable {
    type Data = Bytes;
    type Error = reqwest::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut TaskContext<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(self.0.get_mut().unwrap_or_else(PoisonError::into_inner)).poll_frame(task)
    }

    fn is_end_stream(&self) -> bool {
        self.lock().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.lock().size_hint()
    }
}
