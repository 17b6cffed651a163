//! What stands between tonic and the connection: our headers on the way out, and a shield on the way in.
//!
//! tonic makes statuses of its own, which look like those of the receiver, and it panics where the details of a status
//! are not base64. So what the receiver said is noted under names of ours, and the details are kept from tonic.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Frame, Incoming};
use hyper::client::conn::http2;
use hyper::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use hyper::{Request, Response, StatusCode};
use tonic::body::Body;
use tower_service::Service;

/// The header with the status that the receiver sent.
pub(super) const SAID: &str = "x-tracecast-said";
/// The header with its details, as the receiver sent them.
pub(super) const DETAILS: &str = "x-tracecast-details";

type BoxError = Box<dyn Error + Send + Sync>;

/// One call over a connection.
pub(super) struct Call {
    pub(super) sender: http2::SendRequest<Body>,
    pub(super) headers: HeaderMap,
}

/// An answer of something that speaks HTTP/2 but not gRPC, such as a proxy.
#[derive(Debug)]
pub(super) struct NotGrpc {
    pub(super) status: StatusCode,
    pub(super) retry_after: Option<String>,
}

impl Service<Request<Body>> for Call {
    type Response = Response<UnsyncBoxBody<Bytes, hyper::Error>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.sender.poll_ready(context).map_err(BoxError::from)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        request.headers_mut().extend(self.headers.clone());
        let response = self.sender.send_request(request);
        Box::pin(async move { Ok(shielded(response.await?)?) })
    }
}

impl fmt::Display for NotGrpc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HTTP {} that is not of gRPC", self.status.as_u16())
    }
}

impl Error for NotGrpc {}

fn shielded(response: Response<Incoming>) -> Result<<Call as Service<Request<Body>>>::Response, NotGrpc> {
    let (mut head, body) = response.into_parts();
    let media = head.headers.get(CONTENT_TYPE).map(|value| value.as_bytes());
    let is_grpc = media.is_some_and(|media| media.starts_with(b"application/grpc"));
    if !head.headers.contains_key("grpc-status") && (head.status != StatusCode::OK || !is_grpc) {
        let retry_after = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        return Err(NotGrpc { status: head.status, retry_after: retry_after.map(str::to_owned) });
    }
    note(&mut head.headers);
    let body = body.map_frame(|frame| match frame.into_trailers() {
        Ok(mut trailers) => {
            note(&mut trailers);
            Frame::trailers(trailers)
        }
        Err(data) => data,
    });
    Ok(Response::from_parts(head, body.boxed_unsync()))
}

fn note(headers: &mut HeaderMap) {
    headers.remove(SAID);
    headers.remove(DETAILS);
    if let Some(said) = headers.get("grpc-status").cloned() {
        headers.insert(SAID, said);
    }
    if let Some(details) = headers.remove("grpc-status-details-bin") {
        headers.insert(DETAILS, details);
    }
}
