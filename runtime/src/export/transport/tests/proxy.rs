//! Tests of receivers behind a proxy. Only the proxy resolves their names, so nothing reaches them directly.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;
use tracecast_receiver::NOBODY;

use super::server::{Reply, Script, Server, accepting};
use super::tls::Authority;
use super::*;

/// The heads of the requests that a proxy got.
type Heads = Arc<Mutex<Vec<String>>>;

/// A proxy that forwards everything to one receiver, whatever its name, by a tunnel on request.
async fn forward(mut stream: impl super::super::stream::Bytes, receiver: u16, heads: Heads) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else { return };
        head.push(byte);
    }
    let text = String::from_utf8(head.clone()).unwrap();
    heads.lock().unwrap().push(text.clone());
    let mut onward = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], receiver))).await.unwrap();
    if text.starts_with("CONNECT ") {
        stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
    } else {
        onward.write_all(&head).await.unwrap();
    }
    let _ = copy_bidirectional(&mut stream, &mut onward).await;
}

async fn proxy_to(receiver: &Server) -> (Server, Heads) {
    let (heads, receiver) = (Heads::default(), receiver.port);
    let seen = heads.clone();
    (Server::start(move |_, stream| forward(stream, receiver, seen.clone())).await, heads)
}

fn through(proxy: &Server, scheme: &str, target: Otlp) -> Otlp {
    let proxy = format!("{scheme}://ann:hunter2@127.0.0.1:{}", proxy.port);
    Otlp { proxy: Some(proxy.parse::<Endpoint>().unwrap().into()), ..target }
}

const BASIC: &str = "proxy-authorization: Basic YW5uOmh1bnRlcjI=\r\n";

#[tokio::test]
async fn plain_http_is_sent_to_the_proxy_with_the_whole_address() {
    let (receiver, script) = accepting(Protocol::HttpProtobuf).await;
    let (proxy, heads) = proxy_to(&receiver).await;
    let target = target(Protocol::HttpProtobuf, "http://collector.test:4318/v1/traces?key=1".to_owned());
    let sent = transport(&through(&proxy, "http", target)).send(b"spans".to_vec()).await;
    assert_eq!(sent, accepted());
    let head = heads.lock().unwrap().remove(0);
    assert!(head.starts_with("POST http://collector.test:4318/v1/traces?key=1 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("host: collector.test:4318\r\n") && head.contains(BASIC), "{head}");
    assert_eq!(script.request().into_body(), "spans");
}

#[tokio::test]
async fn grpc_goes_through_a_tunnel() {
    let (receiver, script) = accepting(Protocol::Grpc).await;
    let (proxy, heads) = proxy_to(&receiver).await;
    let target = target(Protocol::Grpc, "http://collector.test".to_owned());
    let mut transport = transport(&through(&proxy, "http", target));
    assert_eq!(transport.send(b"spans".to_vec()).await, accepted());
    let head = heads.lock().unwrap()[0].clone();
    assert!(head.starts_with("CONNECT collector.test:80 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("host: collector.test:80\r\n") && head.contains(BASIC), "{head}");
    // The receiver does not get the proxy's credentials.
    let request = script.request();
    assert_eq!(request.uri().authority().unwrap(), "collector.test");
    assert!(!request.headers().contains_key("proxy-authorization"), "{request:?}");
    // The tunnel is reused.
    assert_eq!(transport.send(b"spans".to_vec()).await, accepted());
    assert_eq!((proxy.connections(), receiver.connections()), (1, 1));
    assert!(transport.probe(Probe::Connection).await);
}

#[tokio::test]
async fn tls_is_with_the_receiver_and_not_with_the_proxy() {
    let ours = Authority::new();
    for (protocol, scheme) in [(Protocol::HttpProtobuf, "http"), (Protocol::Grpc, "http"), (Protocol::Grpc, "https")] {
        let receiver = ours.serve(protocol, "collector.test", false).await;
        let heads = Heads::default();
        let (port, seen, acceptor) =
            (receiver.port, heads.clone(), ours.acceptor(Protocol::HttpProtobuf, "127.0.0.1", false));
        let proxy = Server::start(move |_, stream| {
            let (seen, acceptor) = (seen.clone(), acceptor.clone());
            async move {
                match scheme {
                    "https" => forward(acceptor.accept(stream).await.unwrap(), port, seen).await,
                    _ => forward(stream, port, seen).await,
                }
            }
        });
        let proxy = proxy.await;
        let target = Otlp { tls: ours.files(), ..target(protocol, "https://collector.test:4318/v1/traces".to_owned()) };
        let sent = transport(&through(&proxy, scheme, target)).send(b"spans".to_vec()).await;
        assert_eq!(sent, accepted(), "{protocol:?} {scheme}");
        let heads = heads.lock().unwrap();
        assert!(heads[0].starts_with("CONNECT collector.test:4318 HTTP/1.1\r\n"), "{heads:?}");
    }
}

#[tokio::test]
async fn a_proxy_that_refuses_or_is_away_is_named_without_its_password() {
    let check = |sent: Sent, expected: String| {
        let printed = printed(&sent);
        assert_eq!(printed, expected);
        assert!(matches!(sent, Sent::Retry { probe: Probe::Connection, .. }));
    };
    let refusing = Server::start(|_, stream| Script::new(Reply::http(407)).http1(stream)).await;
    let target = target(Protocol::Grpc, "http://collector.test:4317".to_owned());
    let mut refused = transport(&through(&refusing, "http", target.clone()));
    let shown = format!("retry after None: proxy http://[secret]@127.0.0.1:{}: ", refusing.port);
    check(refused.send(b"spans".to_vec()).await, format!("{shown}HTTP 407 Proxy Authentication Required"));
    assert!(!refused.probe(Probe::Connection).await);

    let garbage = Server::start(|_, mut stream: TcpStream| async move {
        let _ = stream.write_all(b"ann:hunter2 who?\r\n\r\n").await;
    })
    .await;
    let sent = printed(&transport(&through(&garbage, "http", target.clone())).send(b"spans".to_vec()).await);
    assert!(sent.contains(&format!("proxy http://[secret]@127.0.0.1:{}: ", garbage.port)), "{sent}");
    assert!(!sent.contains("hunter2"), "{sent}");

    let proxy: Endpoint = format!("http://{NOBODY}").parse().unwrap();
    let sent = transport(&Otlp { proxy: Some(proxy.into()), ..target }).send(b"spans".to_vec()).await;
    check(sent, format!("retry after None: proxy http://{NOBODY}: connection refused"));
}

/// A proxy that never answers does not delay a request beyond its timeout.
#[tokio::test]
async fn a_silent_proxy_ends_with_the_timeout() {
    let silent = Server::start(|_, stream| async move {
        let _stream = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let target =
        Otlp { timeout: Duration::from_millis(50), ..target(Protocol::Grpc, "http://collector.test".to_owned()) };
    let sent = transport(&through(&silent, "http", target)).send(b"spans".to_vec()).await;
    assert_eq!(printed(&sent), "retry after None: no connection within 50ms");
}
