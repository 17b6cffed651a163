//! Calls are counted, timed and known while they last, whatever their end, by labels that no caller can add to.

use std::time::Instant;

use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::transport::Server;
use tracecast::OwnedValue;
use tracecast_tower::{GrpcClientLayer, GrpcServerLayer};

use crate::support::grpc::{self, World, lines};
use crate::support::{BOTH, alone, hangs, meter, of_kind, record, spans_of};

#[track_caller]
fn text(lines: &[&str]) -> String {
    lines.join("\n")
}

#[test]
fn every_ending_is_counted_and_none_stays_in_flight() {
    alone(async || {
        // Also where spans are not recorded.
        let (_metering, mut reader) = meter();
        let mut world = World::new().await;
        world.unary("hello").await.unwrap();
        world.unary("fail 5").await.unwrap_err();
        world.unary("panic").await.unwrap_err();
        let stream = world.server_stream(tonic::Request::new("10".to_owned())).await.unwrap();
        assert_eq!(stream.collect::<Vec<_>>().await.len(), 10);
        let hangs = hangs();
        let mut other = world.client.clone();
        let hanging = tokio::spawn(async move {
            other.ready().await.unwrap();
            let path = http::uri::PathAndQuery::from_static(grpc::UNARY);
            other.unary(tonic::Request::new("hang".to_owned()), path, grpc::Texts).await
        });
        hangs.await;
        assert_eq!(
            lines(&mut reader, "tc_rpc_server_active", "tc_rpc_server_active 1").await,
            "tc_rpc_server_active 1"
        );
        hanging.abort();
        assert_eq!(
            lines(&mut reader, "tc_rpc_server_active", "tc_rpc_server_active 0").await,
            "tc_rpc_server_active 0"
        );

        let server = text(&[
            "tc_rpc_server_duration_seconds{rpc.service=test.v1.Echo, rpc.method=Unary, rpc.grpc.status_code=0} count=1",
            "tc_rpc_server_duration_seconds{rpc.service=test.v1.Echo, rpc.method=Unary, rpc.grpc.status_code=1} count=1",
            "tc_rpc_server_duration_seconds{rpc.service=test.v1.Echo, rpc.method=Unary, rpc.grpc.status_code=2} count=1",
            "tc_rpc_server_duration_seconds{rpc.service=test.v1.Echo, rpc.method=Unary, rpc.grpc.status_code=5} count=1",
            "tc_rpc_server_duration_seconds{rpc.service=test.v1.Echo, rpc.method=ServerStream, rpc.grpc.status_code=0} count=1",
        ]);
        assert_eq!(lines(&mut reader, "tc_rpc_server_duration", &server).await, server);
        let client = text(&[
            "tc_rpc_client_duration_seconds{rpc.service=test.v1.Echo, rpc.method=Unary, rpc.grpc.status_code=0} count=1",
            "tc_rpc_client_duration_seconds{rpc.service=test.v1.Echo, rpc.method=Unary, rpc.grpc.status_code=1} count=2",
            "tc_rpc_client_duration_seconds{rpc.service=test.v1.Echo, rpc.method=Unary, rpc.grpc.status_code=5} count=1",
            "tc_rpc_client_duration_seconds{rpc.service=test.v1.Echo, rpc.method=ServerStream, rpc.grpc.status_code=0} count=1",
        ]);
        assert_eq!(lines(&mut reader, "tc_rpc_client_duration", &client).await, client);
    });
}

#[test]
fn methods_of_a_descriptor_set_are_known_from_the_start() {
    alone(async || {
        let (_metering, mut reader) = meter();
        // `package described.v1; service Store { rpc Get; }`
        let set = b"\x0a\x1e\x12\x0cdescribed.v1\x32\x0e\x0a\x05Store\x12\x05\x0a\x03Get";
        let layer = GrpcServerLayer::new().with_descriptor_set(set).unwrap();
        let mut world = World::with(layer, tonic::transport::Server::builder()).await;
        world.call(tonic::Request::new(String::new()), "/described.v1.Store/Get").await.unwrap_err();
        let labels = "rpc.service=described.v1.Store, rpc.method=Get, rpc.grpc.status_code=12";
        let expected = format!("tc_rpc_server_duration_seconds{{{labels}}} count=1");
        assert_eq!(lines(&mut reader, "tc_rpc_server_duration", &expected).await, expected);
        assert!(GrpcServerLayer::new().with_descriptor_set(b"nonsense").is_err());
    });
}

#[test]
fn messages_and_bytes_are_counted_by_method() {
    alone(async || {
        let (_metering, mut reader) = meter();
        let mut world = World::new().await;
        world.unary("hello").await.unwrap();
        world.unary("fail 5").await.unwrap_err();
        let stream = world.server_stream(tonic::Request::new("10".to_owned())).await.unwrap();
        assert_eq!(stream.collect::<Vec<_>>().await.len(), 10);
        for side in ["server", "client"] {
            for (metric, unary, stream) in [
                ("request_messages", 2, 1),
                ("request_bytes", 5 + 6, 2),
                ("response_messages", 1, 10),
                ("response_bytes", 5, 90),
            ] {
                let name = format!("tc_rpc_{side}_{metric}_total");
                let line = |method, count| format!("{name}{{rpc.service=test.v1.Echo, rpc.method={method}}} {count}");
                let expected = [line("Unary", unary), line("ServerStream", stream)].join("\n");
                assert_eq!(lines(&mut reader, &name, &expected).await, expected);
            }
        }
    });
}

#[test]
fn the_first_byte_of_a_response_is_timed_where_that_is_asked_for() {
    alone(async || {
        let (recording, (_metering, mut reader)) = (record(), meter());
        let mut plain = World::new().await;
        plain.unary("hello").await.unwrap();
        for span in spans_of(&recording, &BOTH).await {
            assert_eq!(span.attribute("tc.response.first_byte_seconds"), None, "{span:#?}");
        }
        assert_eq!(lines(&mut reader, "tc_rpc_server_first_byte", "").await, "");

        let world = World::with(GrpcServerLayer::new().with_first_byte(), Server::builder()).await;
        let mut world = world.calling(&GrpcClientLayer::new().with_first_byte());
        let (send, receive) = mpsc::unbounded_channel();
        let began = Instant::now();
        send.send("first".to_owned()).unwrap();
        let mut stream = world.bidi(UnboundedReceiverStream::new(receive)).await.unwrap();
        stream.next().await.unwrap().unwrap();
        let seen = began.elapsed().as_secs_f64();
        send.send("second".to_owned()).unwrap();
        stream.next().await.unwrap().unwrap();
        drop(send);
        assert!(stream.next().await.is_none());
        // It has no body of which a byte could be the first.
        world.unary("fail 5").await.unwrap_err();

        let mut spans = spans_of(&recording, &BOTH).await;
        spans.retain(|span| span.name == "Echo/Bidi");
        for kind in BOTH {
            let span = of_kind(&spans, kind);
            let Some(OwnedValue::F64(first)) = span.attribute("tc.response.first_byte_seconds") else {
                panic!("{span:#?}")
            };
            assert!(*first > 0.0 && *first <= seen, "{first} {seen}");
        }
        for side in ["server", "client"] {
            let name = format!("tc_rpc_{side}_first_byte_seconds");
            let expected = format!("{name}{{rpc.service=test.v1.Echo, rpc.method=Bidi}} count=1");
            assert_eq!(lines(&mut reader, &name, &expected).await, expected);
        }
    });
}
