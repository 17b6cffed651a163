//! OTLP over gRPC: an HTTP/2 request with one message after five bytes of framing, and a status in the trailers.

mod status;

use std::io::Read;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::buf::Chain;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use flate2::read::GzDecoder;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, TE};
use hyper::http::uri::{Parts, PathAndQuery};
use hyper::rt::Executor as _;
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;

pub(super) use self::status::retry_info;

use self::status::{OUT_OF_RANGE, RESOURCE_EXHAUSTED, UNKNOWN, retries};
use super::ANSWER_BYTES;
use super::answer::{self, Media};
use super::connect::Connector;
use super::error::TargetError;
use super::failure::{Failure, Spoken};
use super::gzip::compressed;
use super::hint::retry_after;
use super::sent::{Probe, Sent};
use super::status::{http_name, http_probe, http_retries};
use super::tasks::Tasks;
use crate::base::grpc::name_of;
use crate::base::percent::decoded;
use crate::config::Signal;

const SPOKEN: Spoken = Spoken::Grpc;

/// The longest timeout, in milliseconds, for the eight digits of the `grpc-timeout` header.
const LONGEST_TIMEOUT: u128 = 99_999_999;

/// The bytes of framing: a flag, and the length of the message.
const FRAME: usize = 5;

/// Decodes base64 with padding and without, because receivers send both.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The framing and the message, in two buffers to avoid a copy.
type Body = Full<Chain<Bytes, Bytes>>;

/// Sends requests over one connection.
pub(super) struct Client {
    uri: Uri,
    headers: HeaderMap,
    gzip: bool,
    connection: Option<Connection>,
}

struct Connection {
    sender: http2::SendRequest<Body>,
    _tasks: Tasks,
}

impl Client {
    pub(super) fn new(
        uri: Uri,
        signal: Signal,
        mut headers: HeaderMap,
        gzip: bool,
        timeout: Duration,
    ) -> Result<Self, TargetError> {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        headers.insert(TE, HeaderValue::from_static("trailers"));
        headers.insert("grpc-accept-encoding", HeaderValue::from_static("gzip"));
        if gzip {
            headers.insert("grpc-encoding", HeaderValue::from_static("gzip"));
        }
        if timeout.as_millis() <= LONGEST_TIMEOUT
            && let Ok(value) = HeaderValue::from_str(&format!("{}m", timeout.as_millis()))
        {
            headers.insert("grpc-timeout", value);
        }
        let path = match signal {
            Signal::Traces => "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
            Signal::Metrics => "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
            Signal::Logs => "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
        };
        let mut parts = Parts::from(uri);
        parts.path_and_query = Some(PathAndQuery::from_static(path));
        let uri = Uri::from_parts(parts).map_err(|_| TargetError::Url)?;
        Ok(Client { uri, headers, gzip, connection: None })
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

    pub(super) async fn send(&mut self, connector: &mut Connector, message: Bytes) -> Result<Sent, Failure> {
        let request = self.request(message);
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(connect(connector).await?),
        };
        connection.sender.ready().await.map_err(|error| failed(&error))?;
        let response = connection.sender.send_request(request).await.map_err(|error| failed(&error))?;
        let (head, body) = response.into_parts();
        let media = head.headers.get(CONTENT_TYPE).map(|value| value.as_bytes());
        let is_grpc = media.is_some_and(|media| media.starts_with(b"application/grpc"));
        if !head.headers.contains_key("grpc-status") && (head.status != StatusCode::OK || !is_grpc) {
            // The peer may not have read the whole request, and the rest would delay the next one.
            self.connection = None;
            return Ok(judge_http(head.status, &head.headers));
        }
        let Some(Answer { messages, trailers }) = read(body).await? else {
            return Ok(Sent::not_otlp(&format!("gRPC, more than {ANSWER_BYTES} bytes")));
        };
        Ok(judge(&head.headers, &messages, &trailers))
    }

    fn request(&self, message: Bytes) -> Request<Body> {
        let message = if self.gzip { compressed(&message) } else { message };
        let mut frame = BytesMut::with_capacity(FRAME);
        frame.put_u8(u8::from(self.gzip));
        // Requests are split far below this limit.
        frame.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
        let mut request = Request::new(Full::new(frame.freeze().chain(message)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }
}

fn failed(error: &hyper::Error) -> Failure {
    Failure::of(error, SPOKEN)
}

async fn connect(connector: &mut Connector) -> Result<Connection, Failure> {
    let (stream, tasks) = (connector.open().await?, Tasks::new());
    let (sender, connection) =
        http2::handshake(tasks.executor(), TokioIo::new(stream)).await.map_err(|error| failed(&error))?;
    tasks.executor().execute(connection);
    Ok(Connection { sender, _tasks: tasks })
}

/// The body of a response.
#[derive(Default)]
struct Answer {
    messages: Vec<u8>,
    trailers: HeaderMap,
}

/// Reads a response to its end; `None` if it is too long.
async fn read(mut body: Incoming) -> Result<Option<Answer>, Failure> {
    let mut answer = Answer::default();
    while let Some(frame) = body.frame().await {
        match frame.map_err(|error| failed(&error))?.into_data() {
            Ok(data) if answer.messages.len() + data.len() > FRAME + ANSWER_BYTES => return Ok(None),
            Ok(data) => answer.messages.extend_from_slice(&data),
            Err(frame) => answer.trailers = frame.into_trailers().unwrap_or_default(),
        }
    }
    Ok(Some(answer))
}

/// Classifies a response by its status, which is in the trailers, or in the headers if there is no message.
fn judge(headers: &HeaderMap, messages: &[u8], trailers: &HeaderMap) -> Sent {
    let said = if trailers.contains_key("grpc-status") { trailers } else { headers };
    let text = |name| said.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    match text("grpc-status").map(str::trim) {
        None => Sent::not_otlp("gRPC without a status"),
        Some("0") => accepted(headers, messages),
        Some(code) => {
            let message =
                String::from_utf8_lossy(&decoded(text("grpc-message").unwrap_or_default(), b'+').0).into_owned();
            let details = text("grpc-status-details-bin").and_then(|details| BASE64.decode(details.trim()).ok());
            let code = code.parse().ok().filter(|code| *code != 0).unwrap_or(UNKNOWN);
            judge_status(code, &message, &details.unwrap_or_default())
        }
    }
}

fn accepted(headers: &HeaderMap, messages: &[u8]) -> Sent {
    let message = first_message(headers, messages);
    match message.and_then(|message| answer::partial(Media::Protobuf, &message)) {
        Some(answer::Partial { rejected, message }) => Sent::Accepted { rejected, message },
        None => Sent::not_otlp("gRPC OK"),
    }
}

/// Returns the first message of a response, decompressed; empty if there is none. `None` if it is incomplete, too long,
/// or not compressed with gzip as announced.
fn first_message(headers: &HeaderMap, messages: &[u8]) -> Option<Vec<u8>> {
    if messages.is_empty() {
        return Some(Vec::new());
    }
    let (&[flag, a, b, c, d], rest) = messages.split_first_chunk::<FRAME>()?;
    let message = rest.get(..usize::try_from(u32::from_be_bytes([a, b, c, d])).ok()?)?;
    match flag {
        0 => Some(message.to_vec()),
        1 if headers.get("grpc-encoding").is_some_and(|encoding| encoding == "gzip") => decompressed(message),
        _ => None,
    }
}

/// Decompresses a message; `None` if it is invalid or too long.
fn decompressed(body: &[u8]) -> Option<Vec<u8>> {
    let mut read = Vec::new();
    GzDecoder::new(body).take(ANSWER_BYTES as u64 + 1).read_to_end(&mut read).ok()?;
    (read.len() <= ANSWER_BYTES).then_some(read)
}

fn judge_status(code: u32, message: &str, details: &[u8]) -> Sent {
    let separator = if message.is_empty() { "" } else { ": " };
    let cause = format!("gRPC {}{separator}{message}", name_of(code));
    let after = retry_info(details);
    // Servers answer a message above their limit with RESOURCE_EXHAUSTED; tonic uses OUT_OF_RANGE, which would
    // otherwise be retried for ever.
    let too_large =
        code == RESOURCE_EXHAUSTED && after.is_none() || code == OUT_OF_RANGE && message.contains("too large");
    match code {
        _ if too_large => Sent::TooLarge { cause },
        code if retries(code, after.is_some()) => {
            let probe = if after.is_some() { Probe::None } else { Probe::Request };
            Sent::Retry { after, cause, probe }
        }
        _ => Sent::Refused { cause },
    }
}

/// Classifies a response from an HTTP/2 peer that does not speak gRPC, such as a proxy.
fn judge_http(status: StatusCode, headers: &HeaderMap) -> Sent {
    let cause = format!("HTTP {} instead of gRPC", http_name(status));
    match status.as_u16() {
        _ if status.is_success() => Sent::not_otlp(&cause),
        413 => Sent::TooLarge { cause },
        code if http_retries(code) => {
            let after = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            let after = after.and_then(|value| retry_after(value, SystemTime::now()));
            Sent::Retry { after, cause, probe: http_probe(code, after) }
        }
        _ => Sent::Refused { cause },
    }
}
