//! OTLP over gRPC.
//!
//! tonic speaks gRPC over a connection of ours. Its channel is not used: that one needs a runtime to be made in, and
//! keeps a connection whose other side went silent.

use std::error::Error;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use hyper::Uri;
use hyper::client::conn::http2;
use hyper::header::{HeaderMap, HeaderValue};
use hyper::http::uri::PathAndQuery;
use hyper::rt::Executor as _;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::codec::CompressionEncoding;
use tonic::{Request, Status};

use super::ANSWER_BYTES;
use super::address::Address;
use super::answer::{self, Form};
use super::call::{Call, DETAILS, NotGrpc, SAID};
use super::codec::Passing;
use super::connect::{Connector, Stream};
use super::failure::{Failure, chain};
use super::hint::{retry_after, retry_info};
use super::sent::Sent;
use super::status::{grpc_name, grpc_retries, http_name, http_retries};
use super::tasks::Tasks;
use crate::config::Signal;

const SPOKEN: &str = "gRPC";

/// The longest timeout that fits the eight digits of its header, in milliseconds.
const LONGEST_TIMEOUT: u128 = 99_999_999;

/// Receivers send base64 with padding and without.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Sends requests over one connection.
pub(super) struct Client {
    origin: Uri,
    path: PathAndQuery,
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
        address: &Address,
        signal: Signal,
        mut headers: HeaderMap,
        gzip: bool,
        timeout: Duration,
    ) -> Self {
        let path = match signal {
            Signal::Traces => "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
            Signal::Metrics => "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
            Signal::Logs => "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
        };
        if timeout.as_millis() <= LONGEST_TIMEOUT
            && let Ok(value) = HeaderValue::from_str(&format!("{}m", timeout.as_millis()))
        {
            headers.insert("grpc-timeout", value);
        }
        let path = PathAndQuery::from_static(path);
        Client { origin: address.origin.clone(), path, headers, gzip, connection: None }
    }

    pub(super) fn is_connected(&self) -> bool {
        self.connection.is_some()
    }

    pub(super) fn disconnect(&mut self) {
        self.connection = None;
    }

    pub(super) async fn send(&mut self, connector: &mut Connector, body: Bytes) -> Result<Sent, Failure> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(connect(connector).await?),
        };
        let call = Call { sender: connection.sender.clone(), headers: self.headers.clone() };
        let mut grpc = Grpc::with_origin(call, self.origin.clone())
            .accept_compressed(CompressionEncoding::Gzip)
            .max_decoding_message_size(ANSWER_BYTES);
        if self.gzip {
            grpc = grpc.send_compressed(CompressionEncoding::Gzip);
        }
        grpc.ready().await.map_err(|error| Failure::of(&*error, SPOKEN))?;
        match answer(grpc, self.path.clone(), body).await {
            Ok(answer) => Ok(accepted(&answer)),
            Err(status) => judge(&status),
        }
    }
}

async fn connect(connector: &mut Connector) -> Result<Connection, Failure> {
    match connector.open().await? {
        Stream::Plain(stream) => handshake(stream).await,
        Stream::Tls(stream) => handshake(stream).await,
    }
}

async fn handshake(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<Connection, Failure> {
    let tasks = Tasks::new();
    let (sender, connection) =
        http2::handshake(tasks.executor(), TokioIo::new(stream)).await.map_err(|error| Failure::of(&error, SPOKEN))?;
    tasks.executor().execute(connection);
    Ok(Connection { sender, _tasks: tasks })
}

/// The answer's message, empty if there is none. A unary call of tonic finds fault with that, and forgets what the
/// receiver said.
async fn answer(mut grpc: Grpc<Call>, path: PathAndQuery, body: Bytes) -> Result<Bytes, Status> {
    let mut messages = grpc.server_streaming(Request::new(body), path, Passing).await?.into_inner();
    let first = messages.message().await?.unwrap_or_default();
    // The status comes after the message.
    messages.message().await?;
    Ok(first)
}

fn accepted(answer: &[u8]) -> Sent {
    let answer::Partial { rejected, message } = answer::partial(Form::Protobuf, answer);
    Sent::Accepted { rejected, message }
}

fn judge(status: &Status) -> Result<Sent, Failure> {
    let headers = status.metadata().as_ref();
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    if let Some(said) = text(SAID) {
        let details = text(DETAILS).and_then(|details| BASE64.decode(details.trim()).ok()).unwrap_or_default();
        return Ok(judge_said(said.trim().parse().unwrap_or(2), status.message(), &details));
    }
    let Some(source) = status.source() else {
        return Err(Failure::Garbage(format!("the answer is not {SPOKEN}: {}", status.message())));
    };
    match chain(source).find_map(|error| error.downcast_ref::<NotGrpc>()) {
        Some(answer) => judge_http(answer),
        None => Err(Failure::of(source, SPOKEN)),
    }
}

fn judge_said(code: u32, message: &str, details: &[u8]) -> Sent {
    let separator = if message.is_empty() { "" } else { ": " };
    let cause = format!("gRPC {}{separator}{message}", grpc_name(code));
    let after = retry_info(details);
    if grpc_retries(code, after.is_some()) { Sent::Retry { after, cause } } else { Sent::Refused { cause } }
}

fn judge_http(answer: &NotGrpc) -> Result<Sent, Failure> {
    if answer.status.is_success() {
        return Err(Failure::Garbage(format!("the answer is not {SPOKEN}")));
    }
    let cause = format!("HTTP {} instead of {SPOKEN}", http_name(answer.status));
    if http_retries(answer.status.as_u16()) {
        let after = answer.retry_after.as_ref().and_then(|value| retry_after(value, SystemTime::now()));
        return Ok(Sent::Retry { after, cause });
    }
    Ok(Sent::Refused { cause })
}
