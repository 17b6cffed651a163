//! Every way in which a call can end, over real sockets, seen from both sides: its status, its outcome, its messages.

use std::time::Duration;

use crate::support::grpc::{self, Texts, World, channel, check, client};
use crate::support::{self, BOTH, hangs, of_kind, record, spans_of};
use tokio_stream::StreamExt;
use tonic::body::Body;
use tonic::codec::CompressionEncoding;
use tonic::transport::Server;
use tonic::{Code, Request, Status};
use tower_layer::Layer;
use tracecast::{Kind, Outcome, OwnedValue};
use tracecast_tower::{GrpcClientLayer, GrpcServerLayer, TracedChannel};

/// Runs a test alone. After it, no call is in flight, and all that ended were timed.
fn alone<F: Future<Output = ()>>(test: impl FnOnce() -> F) {
    let snapshot = support::alone_until_idle("tc_rpc_server_active", test);
    let timed = snapshot.metric("tc_rpc_client_duration_seconds").map_or(0, |metric| metric.points.len());
    assert!(timed > 0, "{snapshot}");
}

fn text(text: &str) -> Request<String> {
    Request::new(text.to_owned())
}

fn within(request: &str, timeout: Duration) -> Request<String> {
    let mut request = text(request);
    request.set_timeout(timeout);
    request
}

/// For its client a call without an answer has failed; that nobody waited for one is told besides.
#[track_caller]
fn check_given_up(spans: &[tracecast::testing::FinishedSpan], messages: [u64; 2]) {
    check(spans, Kind::Client, Code::Cancelled, Outcome::Error, messages);
    let client = of_kind(spans, Kind::Client);
    assert_eq!(client.attribute("tc.outcome"), Some(&OwnedValue::Str("cancelled".into())));
    assert_eq!(client.attribute("error.type"), Some(&OwnedValue::Str("CANCELLED".into())));
}

#[test]
fn unary_ok() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        assert_eq!(world.unary("hello").await.unwrap(), "hello");
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Client, Code::Ok, Outcome::Ok, [1, 1]);
        check(&spans, Kind::Server, Code::Ok, Outcome::Ok, [1, 1]);
        let (client, server) = (of_kind(&spans, Kind::Client), of_kind(&spans, Kind::Server));
        assert_eq!((&*client.name, &*server.name), ("Echo/Unary", "Echo/Unary"));
        assert_eq!((server.trace_id, server.parent_span_id), (client.trace_id, Some(client.span_id)));
        assert!(server.parent_is_remote);
        for (key, value) in [("rpc.system", "grpc"), ("rpc.service", "test.v1.Echo"), ("rpc.method", "Unary")] {
            assert_eq!(server.attribute(key), Some(&OwnedValue::Str(value.into())));
            assert_eq!(client.attribute(key), Some(&OwnedValue::Str(value.into())));
        }
        assert_eq!(server.attribute("network.peer.address"), Some(&OwnedValue::Str("127.0.0.1".into())));
        assert_eq!(server.attribute("tc.rpc.request.bytes"), Some(&OwnedValue::U64(5)));
        let handler = spans.iter().find(|span| span.name == "Handler/Unary").unwrap();
        assert_eq!(handler.parent_span_id, Some(server.span_id));
    });
}

#[test]
fn unary_error_of_the_caller() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        assert_eq!(world.unary("fail 5").await.unwrap_err().code(), Code::NotFound);
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Client, Code::NotFound, Outcome::Error, [1, 0]);
        check(&spans, Kind::Server, Code::NotFound, Outcome::Ok, [1, 0]);
        let client = of_kind(&spans, Kind::Client);
        assert_eq!(client.attribute("error.type"), Some(&OwnedValue::Str("NOT_FOUND".into())));
        assert_eq!(client.attribute("error.message"), Some(&OwnedValue::Str("as it was told".into())));
    });
}

#[test]
fn unary_error_of_the_server() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        assert_eq!(world.unary("fail 13").await.unwrap_err().code(), Code::Internal);
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Client, Code::Internal, Outcome::Error, [1, 0]);
        check(&spans, Kind::Server, Code::Internal, Outcome::Error, [1, 0]);
    });
}

#[test]
fn server_stream_with_a_thousand_messages() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        let stream = world.server_stream(text("1000")).await.unwrap();
        assert_eq!(stream.collect::<Vec<_>>().await.len(), 1000);
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Client, Code::Ok, Outcome::Ok, [1, 1000]);
        check(&spans, Kind::Server, Code::Ok, Outcome::Ok, [1, 1000]);
        let bytes = (0..1000).map(|n| format!("message {n}").len() as u64).sum();
        assert_eq!(of_kind(&spans, Kind::Client).attribute("tc.rpc.response.bytes"), Some(&OwnedValue::U64(bytes)));
        assert_eq!(of_kind(&spans, Kind::Server).attribute("tc.rpc.response.bytes"), Some(&OwnedValue::U64(bytes)));
    });
}

#[test]
fn server_stream_that_fails_midway() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        let stream = world.server_stream(text("3 fail 15")).await.unwrap();
        let results: Vec<_> = stream.collect().await;
        assert_eq!(results.last().unwrap().as_ref().unwrap_err().code(), Code::DataLoss);
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Client, Code::DataLoss, Outcome::Error, [1, 3]);
        check(&spans, Kind::Server, Code::DataLoss, Outcome::Error, [1, 3]);
    });
}

#[test]
fn client_stream() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        assert_eq!(world.client_stream(&["a", "b", "c", "d"]).await.unwrap(), "4");
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Client, Code::Ok, Outcome::Ok, [4, 1]);
        check(&spans, Kind::Server, Code::Ok, Outcome::Ok, [4, 1]);
    });
}

#[test]
fn bidi() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        let stream = world.bidi(tokio_stream::iter((0..20).map(|n| n.to_string()))).await.unwrap();
        assert_eq!(stream.collect::<Vec<_>>().await.len(), 20);
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Client, Code::Ok, Outcome::Ok, [20, 20]);
        check(&spans, Kind::Server, Code::Ok, Outcome::Ok, [20, 20]);
    });
}

#[test]
fn client_drops_before_headers() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        let hangs = hangs();
        tokio::select! {
            ended = world.unary("hang") => panic!("{ended:?}"),
            () = hangs => {}
        }
        let spans = spans_of(&recording, &BOTH).await;
        check_given_up(&spans, [1, 0]);
        check(&spans, Kind::Server, Code::Cancelled, Outcome::Cancelled, [1, 0]);
        let handler = spans.iter().find(|span| span.name == "Handler/Unary").unwrap();
        assert_eq!(handler.outcome, Outcome::Cancelled);
        assert!(handler.end_time() <= of_kind(&spans, Kind::Server).end_time());
    });
}

#[test]
fn client_drops_midway() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        let mut stream = world.server_stream(text("2 hang")).await.unwrap();
        assert!(stream.message().await.unwrap().is_some());
        assert!(stream.message().await.unwrap().is_some());
        drop(stream);
        let spans = spans_of(&recording, &BOTH).await;
        check_given_up(&spans, [1, 2]);
        check(&spans, Kind::Server, Code::Cancelled, Outcome::Cancelled, [1, 2]);
    });
}

#[test]
fn handler_panics() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        assert_eq!(world.unary("panic").await.unwrap_err().code(), Code::Cancelled);
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Client, Code::Cancelled, Outcome::Error, [1, 0]);
        check(&spans, Kind::Server, Code::Unknown, Outcome::Panicked, [1, 0]);
    });
}

#[test]
fn handler_panics_midway() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        let stream = world.server_stream(text("2 panic")).await.unwrap();
        let results: Vec<_> = stream.collect().await;
        assert!(results.last().unwrap().is_err());
        let spans = spans_of(&recording, &BOTH).await;
        assert_eq!(of_kind(&spans, Kind::Client).outcome, Outcome::Error);
        let server = of_kind(&spans, Kind::Server);
        assert_eq!(
            (server.outcome, server.attribute("rpc.grpc.status_code")),
            (Outcome::Panicked, Some(&OwnedValue::I64(2)))
        );
    });
}

#[test]
fn handler_panics_and_the_layer_answers() {
    alone(async || {
        let layer = GrpcServerLayer::new().with_answered_panics();
        let (recording, mut world) = (record(), World::with(layer, Server::builder()).await);
        let status = world.unary("panic").await.unwrap_err();
        assert_eq!((status.code(), status.message()), (Code::Internal, "the handler panicked"));
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Client, Code::Internal, Outcome::Error, [1, 0]);
        check(&spans, Kind::Server, Code::Internal, Outcome::Panicked, [1, 0]);

        let results: Vec<_> = world.server_stream(text("2 panic")).await.unwrap().collect().await;
        assert_eq!(results.last().unwrap().as_ref().unwrap_err().code(), Code::Internal);
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Client, Code::Internal, Outcome::Error, [1, 2]);
        check(&spans, Kind::Server, Code::Internal, Outcome::Panicked, [1, 2]);
    });
}

#[test]
fn deadline_before_headers() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        assert!(world.unary_with(within("hang", Duration::from_millis(800))).await.is_err());
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Client, Code::DeadlineExceeded, Outcome::Error, [1, 0]);
        check(&spans, Kind::Server, Code::DeadlineExceeded, Outcome::Error, [1, 0]);
    });
}

#[test]
fn timeout_of_the_server() {
    alone(async || {
        let timeout = Duration::from_millis(800);
        let layer = GrpcServerLayer::new().with_timeout(timeout);
        let (recording, mut world) = (record(), World::with(layer, Server::builder().timeout(timeout)).await);
        assert!(world.unary("hang").await.is_err());
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Server, Code::DeadlineExceeded, Outcome::Error, [1, 0]);
        // The client was told something else.
        check(&spans, Kind::Client, Code::Cancelled, Outcome::Error, [1, 0]);
    });
}

#[test]
fn client_drops_after_the_timeout_of_the_server_which_ends_at_the_headers() {
    alone(async || {
        let timeout = Duration::from_millis(300);
        let layer = GrpcServerLayer::new().with_timeout(timeout);
        let (recording, mut world) = (record(), World::with(layer, Server::builder().timeout(timeout)).await);
        let mut stream = world.server_stream(text("1 hang")).await.unwrap();
        assert!(stream.message().await.unwrap().is_some());
        assert!(tokio::time::timeout(timeout * 2, stream.message()).await.is_err());
        drop(stream);
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Server, Code::Cancelled, Outcome::Cancelled, [1, 1]);
    });
}

/// Answers a request of HTTP/2 as a proxy does whose server is gone: no gRPC, in several parts.
async fn proxy() -> std::net::SocketAddr {
    use http_body_util::{BodyExt as _, StreamBody};
    use hyper_util::rt::{TokioExecutor, TokioIo};

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let service = hyper::service::service_fn(async |_| {
                let parts = ["<html>", "gone", "</html>"].map(|part| {
                    Ok::<_, std::convert::Infallible>(http_body::Frame::data(bytes::Bytes::from_static(
                        part.as_bytes(),
                    )))
                });
                let body = StreamBody::new(tokio_stream::iter(parts)).boxed();
                http::Response::builder().status(503).header("content-type", "text/html").body(body)
            });
            let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            tokio::spawn(builder.serve_connection(TokioIo::new(socket), service));
        }
    });
    address
}

#[test]
fn a_proxy_answers_for_a_server_that_is_gone() {
    alone(async || {
        let recording = record();
        let mut client = grpc::client(proxy().await);
        client.ready().await.unwrap();
        let path = http::uri::PathAndQuery::from_static("/test.v1.Echo/Unary");
        assert!(client.unary(text("hello"), path, grpc::Texts).await.is_err());
        let spans = spans_of(&recording, &[Kind::Client]).await;
        check(&spans, Kind::Client, Code::Unavailable, Outcome::Error, [1, 0]);
    });
}

#[test]
fn deadline_midway() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        let timeout = Duration::from_millis(800);
        let mut stream = world.server_stream(within("1 hang", timeout)).await.unwrap();
        assert!(stream.message().await.unwrap().is_some());
        // tonic does not end a stream at its deadline: whoever reads it does.
        assert!(tokio::time::timeout(timeout, stream.message()).await.is_err());
        drop(stream);
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Client, Code::DeadlineExceeded, Outcome::Error, [1, 1]);
        check(&spans, Kind::Server, Code::DeadlineExceeded, Outcome::Error, [1, 1]);
    });
}

#[test]
fn a_stream_past_its_deadline_may_end_well() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        let mut stream = world.server_stream(within("3", Duration::from_millis(500))).await.unwrap();
        tokio::time::sleep(Duration::from_millis(600)).await;
        while stream.message().await.unwrap().is_some() {}
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Client, Code::Ok, Outcome::Ok, [1, 3]);
    });
}

#[test]
fn connection_refused() {
    alone(async || {
        let recording = record();
        // Nobody listens there, and the system gives this port to nobody.
        let mut nobody = client(([127, 0, 0, 1], 1).into());
        nobody.ready().await.unwrap();
        let path = http::uri::PathAndQuery::from_static(grpc::UNARY);
        let status = nobody.unary(text("x"), path, Texts).await.unwrap_err();
        assert_eq!(status.code(), Code::Unavailable);
        let spans = spans_of(&recording, &[Kind::Client]).await;
        check(&spans, Kind::Client, Code::Unavailable, Outcome::Error, [0, 0]);
    });
}

#[test]
fn connection_lost_midway() {
    alone(async || {
        // Between them, so that the wire can be cut.
        let (recording, world) = (record(), World::new().await);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut far = client(listener.local_addr().unwrap());
        let (cut, wire_is_cut) = tokio::sync::oneshot::channel::<()>();
        let address = world.address;
        tokio::spawn(async move {
            let (mut near, _) = listener.accept().await.unwrap();
            let mut server = tokio::net::TcpStream::connect(address).await.unwrap();
            tokio::select! {
                _ = tokio::io::copy_bidirectional(&mut near, &mut server) => {}
                _ = wire_is_cut => {}
            }
        });
        far.ready().await.unwrap();
        let path = http::uri::PathAndQuery::from_static(grpc::SERVER_STREAM);
        let mut stream = far.server_streaming(text("1 hang"), path, Texts).await.unwrap().into_inner();
        assert!(stream.message().await.unwrap().is_some());
        cut.send(()).unwrap();
        // tonic calls it UNKNOWN; its cause tells more.
        assert_eq!(stream.message().await.unwrap_err().code(), Code::Unknown);
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Client, Code::Unavailable, Outcome::Error, [1, 1]);
        check(&spans, Kind::Server, Code::Cancelled, Outcome::Cancelled, [1, 1]);
    });
}

/// A server whose runtime can be taken from under it.
async fn mortal() -> (tokio::runtime::Runtime, World, tonic::client::Grpc<TracedChannel>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let world = runtime.spawn(World::new()).await.unwrap();
    let client = client(world.address);
    (runtime, world, client)
}

#[test]
fn server_is_killed_before_headers() {
    alone(async || {
        let (recording, (runtime, _world, mut client)) = (record(), mortal().await);
        let hangs = hangs();
        let path = http::uri::PathAndQuery::from_static(grpc::UNARY);
        client.ready().await.unwrap();
        let (result, ()) = tokio::join!(client.unary(text("hang"), path, Texts), async {
            hangs.await;
            runtime.shutdown_background();
        });
        assert!(result.is_err());
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Client, Code::Unavailable, Outcome::Error, [1, 0]);
        check(&spans, Kind::Server, Code::Cancelled, Outcome::Cancelled, [1, 0]);
    });
}

#[test]
fn server_is_killed_midway() {
    alone(async || {
        let (recording, (runtime, _world, mut client)) = (record(), mortal().await);
        let path = http::uri::PathAndQuery::from_static(grpc::SERVER_STREAM);
        client.ready().await.unwrap();
        let mut stream = client.server_streaming(text("1 hang"), path, Texts).await.unwrap().into_inner();
        assert!(stream.message().await.unwrap().is_some());
        runtime.shutdown_background();
        assert!(stream.message().await.is_err());
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Client, Code::Unavailable, Outcome::Error, [1, 1]);
        check(&spans, Kind::Server, Code::Cancelled, Outcome::Cancelled, [1, 1]);
    });
}

/// A unary call over a channel with other layers between it and ours.
async fn unary_over<S>(channel: S, request: &str) -> Result<String, Status>
where
    S: tower_service::Service<http::Request<Body>, Response = http::Response<Body>>,
    S::Error: Into<tower::BoxError> + 'static,
{
    let mut client = tonic::client::Grpc::new(GrpcClientLayer::new().layer(channel));
    client.ready().await.map_err(|error| Status::from_error(error.into()))?;
    let path = http::uri::PathAndQuery::from_static(grpc::UNARY);
    client.unary(text(request), path, Texts).await.map(tonic::Response::into_inner)
}

#[test]
fn timeout_of_tower_inside_of_the_client() {
    alone(async || {
        let (recording, world) = (record(), World::new().await);
        let channel = tower::timeout::Timeout::new(channel(world.address), Duration::from_millis(300));
        assert!(unary_over(channel, "hang").await.is_err());
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Client, Code::DeadlineExceeded, Outcome::Error, [1, 0]);
        // It was told of no deadline.
        check(&spans, Kind::Server, Code::Cancelled, Outcome::Cancelled, [1, 0]);
    });
}

#[test]
fn load_shed_of_tower_inside_of_the_client() {
    alone(async || {
        let (recording, world) = (record(), World::new().await);
        let limited = tower::limit::ConcurrencyLimit::new(channel(world.address), 1);
        let channel = tower::load_shed::LoadShed::new(limited);
        let (hangs, first) = (hangs(), channel.clone());
        let hanging = tokio::spawn(async move { unary_over(first, "hang").await });
        hangs.await;
        assert!(unary_over(channel, "shed").await.is_err());
        let spans = spans_of(&recording, &[Kind::Client]).await;
        check(&spans, Kind::Client, Code::ResourceExhausted, Outcome::Error, [0, 0]);
        hanging.abort();
        let spans = spans_of(&recording, &BOTH).await;
        check_given_up(&spans, [1, 0]);
        check(&spans, Kind::Server, Code::Cancelled, Outcome::Cancelled, [1, 0]);
    });
}

#[test]
fn message_too_large() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        let status = world.unary(&"x".repeat(2 << 20)).await.unwrap_err();
        assert_eq!(status.code(), Code::OutOfRange);
        let spans = spans_of(&recording, &BOTH).await;
        assert_eq!(of_kind(&spans, Kind::Client).attribute("rpc.grpc.status_code"), Some(&OwnedValue::I64(11)));
        check(&spans, Kind::Server, Code::OutOfRange, Outcome::Ok, [0, 0]);
    });
}

#[test]
fn unimplemented_method() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        for path in ["/test.v1.Echo/Nothing", "/test.v1.Nobody/Nothing"] {
            let status = world.call(text("x"), path).await.unwrap_err();
            assert_eq!(status.code(), Code::Unimplemented);
            let spans = spans_of(&recording, &BOTH).await;
            assert_eq!(of_kind(&spans, Kind::Client).outcome, Outcome::Error);
            let server = of_kind(&spans, Kind::Server);
            assert_eq!(server.attribute("rpc.grpc.status_code"), Some(&OwnedValue::I64(12)));
            assert_eq!(server.attribute("error.type"), Some(&OwnedValue::Str("UNIMPLEMENTED".into())));
        }
    });
}

#[test]
fn compressed_messages() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        let gzip = CompressionEncoding::Gzip;
        world.client = world.client.clone().send_compressed(gzip).accept_compressed(gzip);
        let long = "x".repeat(100_000);
        assert_eq!(world.unary(&long).await.unwrap(), long);
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Client, Code::Ok, Outcome::Ok, [1, 1]);
        check(&spans, Kind::Server, Code::Ok, Outcome::Ok, [1, 1]);
        let Some(OwnedValue::U64(bytes)) = of_kind(&spans, Kind::Server).attribute("tc.rpc.request.bytes") else {
            panic!("{spans:#?}")
        };
        assert!((1..10_000).contains(bytes), "{bytes}");
    });
}

#[test]
fn load_shed() {
    alone(async || {
        let server = Server::builder().load_shed(true).concurrency_limit_per_connection(1);
        let (recording, mut world) = (record(), World::with(GrpcServerLayer::new(), server).await);
        let (hangs, mut first) = (hangs(), world.client.clone());
        let hanging = tokio::spawn(async move {
            first.ready().await.unwrap();
            first.unary(text("hang"), http::uri::PathAndQuery::from_static(grpc::UNARY), Texts).await
        });
        hangs.await;
        let status: Status = world.unary("shed").await.unwrap_err();
        hanging.abort();
        let spans = spans_of(&recording, &BOTH).await;
        // The server's layer is inside: it never saw that call.
        let shed = i64::from(status.code() as i32);
        let is_shed = |span: &&tracecast::testing::FinishedSpan| {
            span.attribute("rpc.grpc.status_code") == Some(&OwnedValue::I64(shed))
        };
        let clients = spans.iter().filter(|span| span.kind == Kind::Client);
        assert_eq!(clients.filter(is_shed).filter(|span| span.outcome == Outcome::Error).count(), 1, "{spans:#?}");
        assert_eq!(spans.iter().filter(|span| span.kind == Kind::Server).filter(is_shed).count(), 0, "{spans:#?}");
    });
}

#[test]
fn graceful_shutdown_drains_open_streams() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        let (send, receive) = tokio::sync::mpsc::unbounded_channel();
        let texts = tokio_stream::wrappers::UnboundedReceiverStream::new(receive);
        let mut stream = world.bidi(texts).await.unwrap();
        send.send("before".to_owned()).unwrap();
        assert_eq!(stream.message().await.unwrap().unwrap(), "before");
        world.stop.take().unwrap().send(()).unwrap();
        send.send("after".to_owned()).unwrap();
        assert_eq!(stream.message().await.unwrap().unwrap(), "after");
        drop(send);
        assert!(stream.message().await.unwrap().is_none());
        world.server.await.unwrap();
        let spans = spans_of(&recording, &BOTH).await;
        check(&spans, Kind::Client, Code::Ok, Outcome::Ok, [2, 2]);
        check(&spans, Kind::Server, Code::Ok, Outcome::Ok, [2, 2]);
    });
}

#[test]
fn server_says_cancelled() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        let mut stream = world.server_stream(text("1 fail 1")).await.unwrap();
        assert!(stream.message().await.unwrap().is_some());
        assert_eq!(stream.message().await.unwrap_err().code(), Code::Cancelled);
        let spans = spans_of(&recording, &BOTH).await;
        // Without a deadline it is what was said.
        check(&spans, Kind::Client, Code::Cancelled, Outcome::Error, [1, 1]);
        check(&spans, Kind::Server, Code::Cancelled, Outcome::Ok, [1, 1]);
    });
}

/// How a caller that speaks HTTP/2 by hand ends its request.
#[derive(Clone, Copy, Debug)]
enum Leaves {
    Resets(h2::Reason),
    /// Closes the connection.
    HangsUp,
    /// Ends the stream, which breaks the rules where a message is missing.
    Ends,
}

/// Sends headers and this data, and leaves once the server has begun to work on the call.
async fn leave(world: &World, path: &str, data: &[u8], how: Leaves, begun: &tokio::sync::Semaphore) {
    let socket = tokio::net::TcpStream::connect(world.address).await.unwrap();
    let (client, connection) = h2::client::handshake(socket).await.unwrap();
    let connection = tokio::spawn(connection);
    let request = http::Request::post(format!("http://{}{path}", world.address))
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    let mut client = client.ready().await.unwrap();
    let (answer, mut stream) = client.send_request(request.body(()).unwrap(), false).unwrap();
    if !data.is_empty() {
        stream.send_data(data.to_vec().into(), false).unwrap();
    }
    begun.acquire().await.unwrap().forget();
    match how {
        Leaves::Resets(reason) => stream.send_reset(reason),
        Leaves::HangsUp => connection.abort(),
        Leaves::Ends => stream.send_data(Default::default(), true).unwrap(),
    }
    // A stream may have had its headers before.
    let answered = answer.await.is_ok();
    assert!(answered || !matches!(how, Leaves::Ends), "{how:?}");
}

/// Checks how the server saw a caller that leaves like this, in each of several rounds.
fn check_leaving(path: &'static str, data: &'static [u8], how: Leaves, code: Code, outcome: Outcome) {
    support::alone(async || {
        let begun = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
        let begins = begun.clone();
        let layer = GrpcServerLayer::new().with_filter(move |_| {
            begins.add_permits(1);
            true
        });
        let (recording, world) = (record(), World::with(layer, Server::builder()).await);
        for round in 0..20 {
            leave(&world, path, data, how, &begun).await;
            let spans = spans_of(&recording, &[Kind::Server]).await;
            let server = of_kind(&spans, Kind::Server);
            let seen = (server.attribute("rpc.grpc.status_code"), server.outcome);
            assert_eq!(seen, (Some(&OwnedValue::I64(code as i64)), outcome), "round {round}: {how:?} after {data:?}");
            assert!(outcome == Outcome::Error || server.attribute("error.type").is_none(), "{server:#?}");
        }
    });
}

/// The beginning of a message of ten bytes.
const PART: &[u8] = b"\0\0\0\0\x0apart";

#[test]
fn unary_caller_resets_before_its_message() {
    for reason in [h2::Reason::CANCEL, h2::Reason::NO_ERROR, h2::Reason::INTERNAL_ERROR] {
        check_leaving(grpc::UNARY, b"", Leaves::Resets(reason), Code::Cancelled, Outcome::Cancelled);
    }
}

#[test]
fn unary_caller_resets_inside_of_its_message() {
    for reason in [h2::Reason::CANCEL, h2::Reason::NO_ERROR] {
        check_leaving(grpc::UNARY, PART, Leaves::Resets(reason), Code::Cancelled, Outcome::Cancelled);
        check_leaving(grpc::UNARY, &PART[..3], Leaves::Resets(reason), Code::Cancelled, Outcome::Cancelled);
    }
}

#[test]
fn unary_caller_hangs_up_before_and_inside_of_its_message() {
    for data in [b"".as_slice(), PART] {
        check_leaving(grpc::UNARY, data, Leaves::HangsUp, Code::Cancelled, Outcome::Cancelled);
    }
}

#[test]
fn stream_caller_resets_before_and_inside_of_a_message() {
    let (whole, reset) = (b"\0\0\0\0\x02hi\0\0".as_slice(), Leaves::Resets(h2::Reason::CANCEL));
    for data in [b"".as_slice(), PART, whole] {
        check_leaving(grpc::CLIENT_STREAM, data, reset, Code::Cancelled, Outcome::Cancelled);
        check_leaving(grpc::BIDI, data, reset, Code::Cancelled, Outcome::Cancelled);
    }
}

#[test]
fn unary_caller_ends_without_a_whole_message() {
    for data in [b"".as_slice(), PART] {
        check_leaving(grpc::UNARY, data, Leaves::Ends, Code::Internal, Outcome::Error);
    }
}
