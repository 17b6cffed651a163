//! Tests of connections that are kept, refused, reset, silent, or of another protocol.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tracecast_receiver::NOBODY;

use super::server::{Reply, Script, Server};
use super::*;

/// Answers each request with a success.
async fn serve(protocol: Protocol, stream: TcpStream) {
    Script::new(Reply::success(protocol)).serve(protocol, stream).await;
}

/// Reads until the peer closes, and never answers.
async fn silent(mut stream: TcpStream) {
    let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
}

/// Waits for the request and resets the connection.
async fn reset(mut stream: TcpStream) {
    let _ = stream.read(&mut [0; 8]).await;
    let _ = stream.set_zero_linger();
}

async fn says(mut stream: TcpStream, answer: &'static [u8]) {
    let _ = stream.read(&mut [0; 8]).await;
    let _ = stream.write_all(answer).await;
    silent(stream).await;
}

#[tokio::test]
async fn a_connection_is_kept() {
    for protocol in PROTOCOLS {
        let server = Server::start(move |_, stream| serve(protocol, stream)).await;
        let mut transport = transport(&target(protocol, server.url()));
        for _ in 0..3 {
            assert_eq!(transport.send(b"spans".to_vec()).await, accepted());
        }
        assert_eq!(server.connections(), 1);
    }
}

#[test]
fn a_transport_is_made_without_a_runtime() {
    for protocol in PROTOCOLS {
        assert!(Transport::new(&target(protocol, "http://localhost:1/x".to_owned()), Signal::Traces).is_ok());
    }
}

#[tokio::test]
async fn a_kept_connection_that_died_is_replaced_at_once() {
    for protocol in PROTOCOLS {
        let server = Server::start(move |nth, stream| async move {
            if nth > 0 {
                return serve(protocol, stream).await;
            }
            // The first connection answers once, and is closed at the next request.
            let (mut near, far) = tokio::io::duplex(1 << 16);
            let script = if protocol == Protocol::Grpc { Reply::grpc(b"", 0) } else { Reply::http(200) };
            let script = Script::new(script);
            let served = script.clone();
            tokio::spawn(async move { served.serve(protocol, far).await });
            let mut stream = stream;
            let mut sent_back = [0; 1 << 12];
            let mut received = [0; 1 << 12];
            loop {
                tokio::select! {
                    read = stream.read(&mut received) => {
                        let Ok(length @ 1..) = read else { return };
                        if script.answered() && received[..length].windows(5).any(|window| window == b"spans") {
                            return;
                        }
                        near.write_all(&received[..length]).await.unwrap();
                    }
                    read = near.read(&mut sent_back) => stream.write_all(&sent_back[..read.unwrap()]).await.unwrap(),
                }
            }
        })
        .await;
        let mut transport = transport(&target(protocol, server.url()));
        for _ in 0..2 {
            assert_eq!(transport.send(b"spans".to_vec()).await, accepted(), "{protocol:?}");
        }
        assert_eq!(server.connections(), 2);
    }
}

#[tokio::test]
async fn a_refused_connection_is_tried_again_later() {
    for protocol in PROTOCOLS {
        let sent = transport(&target(protocol, format!("http://ann:pass@{NOBODY}/"))).send(b"spans".to_vec()).await;
        assert_eq!(printed(&sent), "retry after None: connection refused");
    }
}

#[tokio::test]
async fn an_unknown_host_is_tried_again_later() {
    let sent = transport(&target(Protocol::Grpc, "http://collector.invalid:4317".into())).send(b"spans".to_vec()).await;
    assert!(printed(&sent).starts_with("retry after None: the host name cannot be resolved"), "{sent:?}");
}

#[tokio::test]
async fn a_reset_connection_is_tried_again_later() {
    for protocol in PROTOCOLS {
        let server = Server::start(|_, stream| reset(stream)).await;
        let sent = transport(&target(protocol, server.url())).send(b"spans".to_vec()).await;
        assert!(printed(&sent).starts_with("retry after None: the connection broke: "), "{sent:?}");
        assert_eq!(server.connections(), 1);
    }
}

#[tokio::test]
async fn a_silent_receiver_is_given_up_and_a_new_connection_made() {
    for protocol in PROTOCOLS {
        let server = Server::start(move |nth, stream| async move {
            if nth == 0 { silent(stream).await } else { serve(protocol, stream).await }
        })
        .await;
        let mut short = target(protocol, server.url());
        short.timeout = Duration::from_millis(500);
        let mut transport = transport(&short);
        let sent = transport.send(b"spans".to_vec()).await;
        assert_eq!(printed(&sent), "retry after None: no answer within 500ms");
        transport.timeout = PATIENCE;
        assert_eq!(transport.send(b"spans".to_vec()).await, accepted());
        assert_eq!(server.connections(), 2);
    }
}

#[tokio::test]
async fn a_connection_that_is_given_up_is_closed() {
    for protocol in PROTOCOLS {
        let (closed, mut is_closed) = tokio::sync::mpsc::unbounded_channel();
        let server = Server::start(move |_, stream| {
            let closed = closed.clone();
            async move {
                silent(stream).await;
                closed.send(()).unwrap();
            }
        })
        .await;
        let mut short = target(protocol, server.url());
        short.timeout = Duration::from_millis(500);
        let mut transport = transport(&short);
        assert!(matches!(transport.send(b"spans".to_vec()).await, Sent::Retry { .. }));
        tokio::time::timeout(PATIENCE, is_closed.recv()).await.unwrap();
    }
}

#[tokio::test]
async fn an_answer_of_another_protocol_is_refused() {
    // The first bytes of an HTTP/2 server, and the answer of an HTTP/1.1 server to HTTP/2.
    for (protocol, answer, expected) in [
        (Protocol::HttpProtobuf, &b"\0\0\0\x04\0\0\0\0\0"[..], "retry after None: the answer is not HTTP/1.1"),
        (Protocol::HttpProtobuf, b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "retry after None: the answer is not HTTP/1.1"),
        (Protocol::Grpc, b"HTTP/1.1 400 Bad Request\r\n\r\n", "retry after None: the answer is not gRPC"),
    ] {
        let server = Server::start(move |_, stream| says(stream, answer)).await;
        let sent = transport(&target(protocol, server.url())).send(b"spans".to_vec()).await;
        let other = if protocol == Protocol::Grpc { "http/protobuf" } else { "grpc" };
        let printed = printed(&sent);
        assert!(printed.starts_with(expected), "{printed}");
        assert!(printed.ends_with(&format!("OTEL_EXPORTER_OTLP_PROTOCOL={other}")), "{printed}");
    }
}

#[tokio::test]
async fn a_send_that_was_dropped_does_not_spoil_the_next() {
    for protocol in PROTOCOLS {
        let server = Server::start(move |nth, stream| async move {
            if nth == 0 { silent(stream).await } else { serve(protocol, stream).await }
        })
        .await;
        let mut transport = transport(&target(protocol, server.url()));
        let send = transport.send(b"spans".to_vec());
        assert!(tokio::time::timeout(Duration::from_millis(500), send).await.is_err());
        assert_eq!(transport.send(b"spans".to_vec()).await, accepted());
        assert_eq!(server.connections(), 2);
    }
}

#[tokio::test]
async fn an_answer_before_the_request_was_read_counts() {
    let answer = b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n";
    let server = Server::start(move |nth, mut stream| async move {
        if nth > 0 {
            return serve(Protocol::HttpProtobuf, stream).await;
        }
        let _ = stream.read(&mut [0; 8]).await;
        let _ = stream.write_all(answer).await;
        // Neither reads on nor closes.
        std::future::pending().await
    })
    .await;
    let mut transport = transport(&target(Protocol::HttpProtobuf, server.url()));
    let sent = transport.send(vec![0; 32 << 20]).await;
    assert_eq!(printed(&sent), "too large: HTTP 413 Payload Too Large");
    assert_eq!(transport.send(b"spans".to_vec()).await, accepted());
}

#[tokio::test]
async fn a_receiver_that_reads_nothing_is_given_up_too() {
    for protocol in PROTOCOLS {
        let (given_up, is_given_up) = tokio::sync::watch::channel(false);
        let (end, mut ended) = tokio::sync::mpsc::unbounded_channel();
        let server = Server::start(move |_, mut stream| {
            let (mut is_given_up, end) = (is_given_up.clone(), end.clone());
            async move {
                is_given_up.wait_for(|given_up| *given_up).await.unwrap();
                let read = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
                end.send(read.unwrap_or(0)).unwrap();
            }
        })
        .await;
        let mut short = target(protocol, server.url());
        short.timeout = Duration::from_millis(500);
        let mut transport = transport(&short);
        let body = vec![0; 64 << 20];
        assert!(matches!(transport.send(body).await, Sent::Retry { .. }));
        given_up.send(true).unwrap();
        // Only bytes that were in the system's buffers arrive.
        let read = tokio::time::timeout(PATIENCE, ended.recv()).await.unwrap().unwrap();
        assert!(read < 64 << 20, "{protocol:?} {read}");
    }
}
