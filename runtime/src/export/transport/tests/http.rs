//! Tests of OTLP over HTTP.

use std::io::Read;

use super::server::{Reply, Script, Server, scripted};
use super::*;

async fn serve(reply: Reply) -> (Server, Script) {
    scripted(Protocol::HttpProtobuf, reply).await
}

async fn check(reply: Reply, expected: &str) {
    let (server, _) = serve(reply).await;
    let sent = transport(&target(Protocol::HttpProtobuf, server.url())).send(b"spans".to_vec()).await;
    assert_eq!(printed(&sent), expected);
}

#[tokio::test]
async fn a_request_carries_path_type_headers_and_body() {
    let (server, script) = serve(Reply::http(200)).await;
    let url = format!("{}?q=1", server.url()).replace("//", "//ann:pass@");
    let target = target(Protocol::HttpProtobuf, url);
    assert_eq!(transport(&target).send(b"spans".to_vec()).await, accepted());
    let request = script.request();
    let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or("none");
    assert_eq!(request.method(), "POST");
    assert_eq!(request.uri(), "/v1/traces?q=1");
    assert_eq!(header("content-type"), "application/x-protobuf");
    assert_eq!(header("content-length"), "5");
    assert_eq!(header("content-encoding"), "none");
    assert_eq!(header("host"), format!("127.0.0.1:{}", server.port));
    assert_eq!(header("x-key"), "sesame");
    assert_eq!(header("authorization"), "Basic YW5uOnBhc3M=");
    assert!(header("user-agent").starts_with("OTel-OTLP-Exporter-Rust/"));
    assert_eq!(request.body(), "spans");
}

#[tokio::test]
async fn json_is_named_and_its_partial_success_read() {
    let body = br#"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}"#;
    let (server, script) = serve(Reply::http(200).header("content-type", "application/json").body(body)).await;
    let sent = transport(&target(Protocol::HttpJson, server.url())).send(b"{}".to_vec()).await;
    assert_eq!(printed(&sent), r#"accepted, 2 rejected, Some("too old")"#);
    assert_eq!(script.request().headers()["content-type"], "application/json");
}

#[tokio::test]
async fn gzip_is_named_and_can_be_read() {
    let (server, script) = serve(Reply::http(200)).await;
    let spans = b"spans ".repeat(10_000);
    let target = Otlp { compression: Compression::Gzip, ..target(Protocol::HttpProtobuf, server.url()) };
    assert_eq!(transport(&target).send(spans.clone()).await, accepted());
    let request = script.request();
    assert_eq!(request.headers()["content-encoding"], "gzip");
    assert!(request.body().len() < 2000, "{}", request.body().len());
    let mut read = Vec::new();
    flate2::read::GzDecoder::new(&request.body()[..]).read_to_end(&mut read).unwrap();
    assert_eq!(read, spans);
}

#[tokio::test]
async fn the_status_decides() {
    check(Reply::http(200), "accepted, 0 rejected, None").await;
    check(Reply::http(202), "accepted, 0 rejected, None").await;
    check(Reply::http(400), "refused: HTTP 400 Bad Request").await;
    check(Reply::http(401), "refused: HTTP 401 Unauthorized").await;
    check(Reply::http(404), "refused: HTTP 404 Not Found").await;
    check(Reply::http(413), "too large: HTTP 413 Payload Too Large").await;
    check(Reply::http(307), "refused: HTTP 307 Temporary Redirect").await;
    check(Reply::http(500), "refused: HTTP 500 Internal Server Error").await;
    check(Reply::http(429), "retry after None: HTTP 429 Too Many Requests").await;
    check(Reply::http(502), "retry after None: HTTP 502 Bad Gateway").await;
    check(Reply::http(503), "retry after None: HTTP 503 Service Unavailable").await;
    check(Reply::http(504), "retry after None: HTTP 504 Gateway Timeout").await;
}

#[tokio::test]
async fn retry_after_is_honoured() {
    let reply = |value| Reply::http(503).header("retry-after", value);
    check(reply("7"), "retry after Some(7s): HTTP 503 Service Unavailable").await;
    check(reply("Sun, 06 Nov 1994 08:49:37 GMT"), "retry after Some(0ns): HTTP 503 Service Unavailable").await;
    check(reply("soon"), "retry after None: HTTP 503 Service Unavailable").await;
    check(Reply::http(400).header("retry-after", "7"), "refused: HTTP 400 Bad Request").await;
}

#[tokio::test]
async fn partial_success_is_counted() {
    let partial = [0x0a, 6, 0x08, 5, 0x12, 2, b'n', b'o'];
    check(Reply::http(200).body(&partial), r#"accepted, 5 rejected, Some("no")"#).await;
}

#[tokio::test]
async fn the_receiver_s_reason_is_told_without_secrets() {
    let json = Reply::http(400).header("content-type", "application/json").body(br#"{"message":"bad key sesame"}"#);
    check(json, "refused: HTTP 400 Bad Request: bad key [secret]").await;
    let text = Reply::http(503).header("content-type", "text/plain").body(b"busy\nvery");
    check(text, "retry after None: HTTP 503 Service Unavailable: busy very").await;
    let html = Reply::http(404).header("content-type", "text/html").body(b"<html>");
    check(html, "refused: HTTP 404 Not Found").await;
}

#[tokio::test]
async fn an_answer_without_end_is_cut_off() {
    let mebibyte = vec![b'x'; 1 << 20];
    let reply = Reply::http(400).header("content-type", "text/plain").body(&mebibyte);
    check(reply, &format!("refused: HTTP 400 Bad Request: {}…", "x".repeat(278))).await;
    let (server, _) = serve(Reply::http(200).body(&mebibyte)).await;
    let mut transport = transport(&target(Protocol::HttpProtobuf, server.url()));
    for _ in 0..2 {
        let sent = printed(&transport.send(b"spans".to_vec()).await);
        assert!(sent.starts_with("unconfirmed: ") && sent.ends_with("cut off after 65536 bytes)"), "{sent}");
    }
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn an_answer_of_something_else_is_told() {
    let html = Reply::http(200).header("content-type", "text/html").body(b"<html>");
    check(html, "unconfirmed: the response is not OTLP: is this the right address? (HTTP 200 OK, text/html)").await;
    let torn = Reply::http(200).body(&[0x0a, 6, 0x08, 5]);
    check(torn, "unconfirmed: the response is not OTLP: is this the right address? (HTTP 200 OK, no content type)")
        .await;
}
