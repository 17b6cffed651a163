//! Tests of OTLP over gRPC.

use std::future::Ready;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tonic::codec::CompressionEncoding;
use tonic::server::UnaryService;
use tonic::{Code, Request, Response, Status};
use tracecast_receiver::Passing;

use super::server::{Reply, Script, Server, scripted};
use super::*;

async fn serve(reply: Reply) -> (Server, Script) {
    scripted(Protocol::Grpc, reply).await
}

async fn check(reply: Reply, expected: &str) {
    let (server, _) = serve(reply).await;
    let sent = transport(&target(Protocol::Grpc, server.url())).send(b"spans".to_vec()).await;
    assert_eq!(printed(&sent), expected);
}

#[tokio::test]
async fn a_request_carries_path_headers_and_body() {
    for (signal, service) in [
        (Signal::Traces, "trace.v1.TraceService"),
        (Signal::Metrics, "metrics.v1.MetricsService"),
        (Signal::Logs, "logs.v1.LogsService"),
    ] {
        let (server, script) = serve(Reply::grpc(b"", 0)).await;
        let url = server.url().replace("//", "//ann:pass@");
        let sent = Transport::new(&target(Protocol::Grpc, url), signal).unwrap().send(b"spans".to_vec()).await;
        assert_eq!(sent, accepted());
        let request = script.request();
        let expected = format!("http://127.0.0.1:{}/opentelemetry.proto.collector.{service}/Export", server.port);
        assert_eq!(request.uri().to_string(), expected);
        let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or("none");
        assert_eq!(header("content-type"), "application/grpc");
        assert_eq!(header("te"), "trailers");
        assert_eq!(header("grpc-timeout"), "30000m");
        assert_eq!(header("grpc-encoding"), "none");
        assert_eq!(header("x-key"), "sesame");
        assert_eq!(header("authorization"), "Basic YW5uOnBhc3M=");
        assert!(header("user-agent").starts_with("OTel-OTLP-Exporter-Rust/"));
        assert_eq!(request.body(), "\0\0\0\0\x05spans");
    }
}

#[tokio::test]
async fn http_spoken_to_its_port_names_the_setting() {
    for signal in Signal::ALL {
        let (server, _) = serve(Reply::grpc(b"", 0)).await;
        let target = target(Protocol::HttpProtobuf, server.url());
        let sent = Transport::new(&target, signal).unwrap().send(b"spans".to_vec()).await;
        let printed = printed(&sent);
        assert!(printed.contains("set OTEL_EXPORTER_OTLP_PROTOCOL=grpc"), "{printed}");
    }
}

#[tokio::test]
async fn the_status_decides() {
    check(Reply::grpc(b"", 0), "accepted, 0 rejected, None").await;
    for (code, expected) in [
        (1, "retry after None: gRPC CANCELLED"),
        (2, "refused: gRPC UNKNOWN"),
        (3, "refused: gRPC INVALID_ARGUMENT"),
        (4, "retry after None: gRPC DEADLINE_EXCEEDED"),
        (7, "refused: gRPC PERMISSION_DENIED"),
        (8, "too large: gRPC RESOURCE_EXHAUSTED"),
        (10, "retry after None: gRPC ABORTED"),
        (11, "retry after None: gRPC OUT_OF_RANGE"),
        (12, "refused: gRPC UNIMPLEMENTED"),
        (13, "refused: gRPC INTERNAL"),
        (14, "retry after None: gRPC UNAVAILABLE"),
        (15, "retry after None: gRPC DATA_LOSS"),
        (16, "refused: gRPC UNAUTHENTICATED"),
        (99, "refused: gRPC UNKNOWN"),
    ] {
        check(Reply::grpc(b"", code), expected).await;
        // Without a message the status may come in the headers.
        check(Reply::http(200).header("content-type", "application/grpc").header("grpc-status", code), expected).await;
    }
}

#[tokio::test]
async fn success_needs_no_message() {
    let reply = Reply::http(200).header("content-type", "application/grpc");
    check(reply.clone().header("grpc-status", 0), "accepted, 0 rejected, None").await;
    check(reply.trailer("grpc-status", 0), "accepted, 0 rejected, None").await;
}

#[tokio::test]
async fn the_receiver_s_reason_is_told_without_secrets() {
    let reply = Reply::grpc(b"", 16).trailer("grpc-message", "bad%20key%0Asesame");
    check(reply, "refused: gRPC UNAUTHENTICATED: bad key [secret]").await;
}

#[tokio::test]
async fn details_that_are_not_base64_do_no_harm() {
    let reply = Reply::grpc(b"", 14).trailer("grpc-status-details-bin", "!!!");
    check(reply, "retry after None: gRPC UNAVAILABLE").await;
    let reply = Reply::http(200).header("grpc-status", 14).header("grpc-status-details-bin", "!!!");
    check(reply, "retry after None: gRPC UNAVAILABLE").await;
}

#[tokio::test]
async fn partial_success_is_counted() {
    let partial = [0x0a, 6, 0x08, 5, 0x12, 2, b'n', b'o'];
    check(Reply::grpc(&partial, 0), r#"accepted, 5 rejected, Some("no")"#).await;
    // An error status in the trailers overrides the message.
    check(Reply::grpc(&partial, 14), "retry after None: gRPC UNAVAILABLE").await;
}

#[tokio::test]
async fn a_proxy_s_answer_follows_the_rules_of_http() {
    check(
        Reply::http(503).header("retry-after", 7),
        "retry after Some(7s): HTTP 503 Service Unavailable instead of gRPC",
    )
    .await;
    check(Reply::http(403), "refused: HTTP 403 Forbidden instead of gRPC").await;
    check(
        Reply::http(200).header("content-type", "text/html").body(b"<html>"),
        "unconfirmed: the response is not OTLP: is this the right address? (HTTP 200 OK instead of gRPC)",
    )
    .await;
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_not_the_receiver_s_status() {
    // The backend may have the spans.
    let (server, _) = serve(Reply::grpc(&vec![0; 1 << 20], 0)).await;
    let sent = transport(&target(Protocol::Grpc, server.url())).send(b"spans".to_vec()).await;
    assert!(printed(&sent).starts_with("unconfirmed: the response is not OTLP"), "{sent:?}");
}

#[tokio::test]
async fn an_answer_without_status_is_none() {
    let (server, _) = serve(Reply::http(200).header("content-type", "application/grpc")).await;
    let sent = transport(&target(Protocol::Grpc, server.url())).send(b"spans".to_vec()).await;
    assert!(printed(&sent).starts_with("unconfirmed: the response is not OTLP"), "{sent:?}");
}

/// A service on tonic's server: returns the message, or an error with details.
#[derive(Clone)]
struct Echo(Option<Status>);

impl UnaryService<Bytes> for Echo {
    type Response = Bytes;
    type Future = Ready<Result<Response<Bytes>, Status>>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        std::future::ready(match &self.0 {
            Some(status) => Err(status.clone()),
            None => Ok(Response::new(request.into_inner())),
        })
    }
}

async fn echo(status: Option<Status>) -> Server {
    let echo = Echo(status);
    Server::start(move |_, stream| {
        let echo = echo.clone();
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let echo = echo.clone();
            let mut grpc = tonic::server::Grpc::new(Passing)
                .accept_compressed(CompressionEncoding::Gzip)
                .send_compressed(CompressionEncoding::Gzip);
            async move { Ok::<_, std::convert::Infallible>(grpc.unary(echo, request).await) }
        });
        async move {
            let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
        }
    })
    .await
}

#[tokio::test]
async fn gzip_goes_both_ways() {
    let server = echo(None).await;
    let text = "spans ".repeat(20);
    let partial = [&[0x0a, 4 + text.len() as u8, 0x08, 5, 0x12, text.len() as u8], text.as_bytes()].concat();
    for gzip in [false, true] {
        let compression = if gzip { Compression::Gzip } else { Compression::None };
        let target = Otlp { compression, ..target(Protocol::Grpc, server.url()) };
        let sent = transport(&target).send(partial.clone()).await;
        assert_eq!(sent, Sent::Accepted { rejected: 5, message: Some(text.trim().to_owned()) });
    }
}

#[tokio::test]
async fn retry_info_is_honoured() {
    let kind = b"type.googleapis.com/google.rpc.RetryInfo";
    let any = [&[0x0a, kind.len() as u8], &kind[..], &[0x12, 4, 0x0a, 2, 0x08, 7]].concat();
    let details = [&[0x08, 8, 0x1a, any.len() as u8], &any[..]].concat();
    for (code, expected) in [
        (Code::ResourceExhausted, "retry after Some(7s): gRPC RESOURCE_EXHAUSTED: full"),
        (Code::Unavailable, "retry after Some(7s): gRPC UNAVAILABLE: full"),
        (Code::InvalidArgument, "refused: gRPC INVALID_ARGUMENT: full"),
    ] {
        let server = echo(Some(Status::with_details(code, "full", details.clone().into()))).await;
        let sent = transport(&target(Protocol::Grpc, server.url())).send(b"spans".to_vec()).await;
        assert_eq!(printed(&sent), expected);
    }
}
