//! OTLP over HTTP/1.1.

use std::time::SystemTime;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::rt::Executor as _;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;

use super::ANSWER_BYTES;
use super::answer::{self, Media};
use super::connect::Connector;
use super::failure::{Failure, Spoken};
use super::gzip::compressed;
use super::hint::retry_after;
use super::sent::Sent;
use super::status::{http_name, http_probe, http_retries};
use super::tasks::Tasks;
use crate::config::Protocol;

const SPOKEN: Spoken = Spoken::Http;

/// Sends requests over one connection.
pub(super) struct Client {
    /// The path, or the whole address if a proxy forwards the requests.
    path: Uri,
    headers: HeaderMap,
    media: Media,
    gzip: bool,
    connection: Option<Connection>,
}

struct Connection {
    sender: http1::SendRequest<Full<Bytes>>,
    _tasks: Tasks,
}

impl Client {
    /// Creates a client. With `whole`, each request names the whole address, as a forwarding proxy requires.
    pub(super) fn new(uri: &Uri, protocol: Protocol, mut headers: HeaderMap, gzip: bool, whole: bool) -> Self {
        let json = protocol == Protocol::HttpJson;
        let content_type = if json { "application/json" } else { "application/x-protobuf" };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        if gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        if let Some(Ok(host)) = uri.authority().map(|authority| HeaderValue::from_str(authority.as_str())) {
            headers.insert(HOST, host);
        }
        let path = uri.path_and_query().filter(|_| !whole).cloned().map_or_else(|| uri.clone(), Uri::from);
        let media = if json { Media::Json } else { Media::Protobuf };
        Client { path, headers, media, gzip, connection: None }
    }

    /// Returns the body of a request without items, which probes the receiver.
    pub(super) fn nothing(&self) -> Bytes {
        Bytes::from_static(if self.media == Media::Json { b"{}" } else { b"" })
    }

    pub(super) fn headers(&mut self) -> &mut HeaderMap {
        &mut self.headers
    }

    pub(super) fn is_connected(&self) -> bool {
        self.connection.is_some()
    }

    pub(super) fn disconnect(&mut self) {
        self.connection = None;
    }

    pub(super) async fn send(&mut self, connector: &mut Connector, body: Bytes) -> Result<Sent, Failure> {
        let request = self.request(body);
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(connect(connector).await?),
        };
        let failed = |error: hyper::Error| Failure::of(&error, SPOKEN);
        connection.sender.ready().await.map_err(failed)?;
        let response = connection.sender.send_request(request).await.map_err(failed)?;
        let (head, body) = response.into_parts();
        let (body, whole) = read(body).await;
        if !whole || !head.status.is_success() {
            // The connection cannot be used again: the rest of this response would precede the next one, or, if the receiver
            // responded early, the rest of this request would precede the next one.
            self.connection = None;
        }
        Ok(judge(&Response::from_parts(head, body), whole, self.media))
    }

    fn request(&self, body: Bytes) -> Request<Full<Bytes>> {
        let body = if self.gzip { compressed(&body) } else { body };
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = hyper::Method::POST;
        *request.uri_mut() = self.path.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }
}

async fn connect(connector: &mut Connector) -> Result<Connection, Failure> {
    let stream = connector.open().await?;
    let (sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| Failure::of(&error, SPOKEN))?;
    let tasks = Tasks::new();
    tasks.executor().execute(connection);
    Ok(Connection { sender, _tasks: tasks })
}

/// Reads the body of a response up to its limit, and returns whether it is complete.
async fn read(mut body: Incoming) -> (Vec<u8>, bool) {
    let mut read = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return (read, false) };
        let data = frame.into_data().unwrap_or_default();
        let room = ANSWER_BYTES - read.len();
        read.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            return (read, false);
        }
    }
    (read, true)
}

fn judge(response: &Response<Vec<u8>>, whole: bool, request: Media) -> Sent {
    let status = response.status();
    let text = |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let media = Media::named(text(CONTENT_TYPE), request);
    if status.is_success() {
        let name = http_name(status);
        return match answer::partial(media, response.body()).filter(|_| whole) {
            Some(answer::Partial { rejected, message }) => Sent::Accepted { rejected, message },
            None if whole => {
                Sent::not_otlp(&format!("HTTP {name}, {}", text(CONTENT_TYPE).unwrap_or("no content type")))
            }
            None => Sent::not_otlp(&format!("HTTP {name}, cut off after {} bytes", response.body().len())),
        };
    }
    let reason = answer::reason(media, response.body()).map(|reason| format!(": {reason}")).unwrap_or_default();
    let cause = format!("HTTP {}{reason}", http_name(status));
    if http_retries(status.as_u16()) {
        let after = text(RETRY_AFTER).and_then(|value| retry_after(value, SystemTime::now()));
        return Sent::Retry { after, cause, probe: http_probe(status.as_u16(), after) };
    }
    if status == StatusCode::PAYLOAD_TOO_LARGE { Sent::TooLarge { cause } } else { Sent::Refused { cause } }
}
