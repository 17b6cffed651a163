//! The names of attributes and metrics, by the conventions that were asked for; and who is called.

use std::time::{Duration, Instant};

use crate::support::grpc::World;
use crate::support::{BOTH, Restored, alone, meter, of_kind, record, spans_of};
use tonic::Code;
use tracecast::__layers::conventions::{Conventions, set_rpc};
use tracecast::testing::FinishedSpan;
use tracecast::{Kind, OwnedValue};
use tracecast_tower::GrpcClientLayer;

/// The attributes of a call whose names begin with `rpc`, on both sides, and the series of how long calls took.
async fn told(conventions: Conventions) -> ([Vec<String>; 2], Vec<String>) {
    let restored = Restored::after(set_rpc, conventions);
    let recording = record();
    let (_metering, mut reader) = meter();
    let mut world = World::new().await.calling(&GrpcClientLayer::new().with_server("store.internal", 50051));
    world.unary("hello").await.unwrap();
    drop(spans_of(&recording, &BOTH).await);
    assert_eq!(world.unary("fail 4").await.unwrap_err().code(), Code::DeadlineExceeded);
    let spans = spans_of(&recording, &BOTH).await;
    drop(restored);
    let limit = Instant::now() + Duration::from_secs(20);
    loop {
        let text = reader.snapshot().to_string();
        let mut found: Vec<_> = text.lines().filter(|line| line.contains("duration")).map(str::to_owned).collect();
        found.sort();
        if found.len() == if conventions == Conventions::Both { 8 } else { 4 } {
            return (BOTH.map(|kind| attributes(of_kind(&spans, kind))), found);
        }
        assert!(Instant::now() < limit, "{found:#?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn attributes(span: &FinishedSpan) -> Vec<String> {
    let rpc = span.attributes.iter().filter(|attribute| attribute.key.starts_with("rpc."));
    let mut rpc: Vec<_> = rpc.map(|attribute| format!("{}={}", attribute.key, attribute.value)).collect();
    rpc.sort();
    rpc
}

const OLD: [&str; 4] = [
    "tc_rpc_client_duration_seconds{rpc.service=test.v1.Echo, rpc.method=Unary, rpc.grpc.status_code=0} count=1",
    "tc_rpc_client_duration_seconds{rpc.service=test.v1.Echo, rpc.method=Unary, rpc.grpc.status_code=4} count=1",
    "tc_rpc_server_duration_seconds{rpc.service=test.v1.Echo, rpc.method=Unary, rpc.grpc.status_code=0} count=1",
    "tc_rpc_server_duration_seconds{rpc.service=test.v1.Echo, rpc.method=Unary, rpc.grpc.status_code=4} count=1",
];

const NEW: [&str; 4] = [
    "rpc.client.call.duration{rpc.system.name=grpc, rpc.method=test.v1.Echo/Unary, server.address=store.internal, server.port=50051, rpc.status_code=DEADLINE_EXCEEDED, error.type=DEADLINE_EXCEEDED} count=1",
    "rpc.client.call.duration{rpc.system.name=grpc, rpc.method=test.v1.Echo/Unary, server.address=store.internal, server.port=50051, rpc.status_code=OK} count=1",
    "rpc.server.call.duration{rpc.system.name=grpc, rpc.method=test.v1.Echo/Unary, rpc.status_code=DEADLINE_EXCEEDED, error.type=DEADLINE_EXCEEDED} count=1",
    "rpc.server.call.duration{rpc.system.name=grpc, rpc.method=test.v1.Echo/Unary, rpc.status_code=OK} count=1",
];

#[test]
fn old_names_are_the_default() {
    alone(async || {
        let (attributes, series) = told(Conventions::default()).await;
        for attributes in attributes {
            let expected =
                ["rpc.grpc.status_code=4", "rpc.method=Unary", "rpc.service=test.v1.Echo", "rpc.system=grpc"];
            assert_eq!(attributes, expected);
        }
        assert_eq!(series, OLD);
    });
}

#[test]
fn new_names_take_their_place() {
    alone(async || {
        let (attributes, series) = told(Conventions::Stable).await;
        for attributes in attributes {
            let status = "rpc.status_code=DEADLINE_EXCEEDED";
            assert_eq!(attributes, ["rpc.method=test.v1.Echo/Unary", status, "rpc.system.name=grpc"]);
        }
        assert_eq!(series, NEW);
    });
}

#[test]
fn both_may_be_written_and_the_new_method_wins() {
    alone(async || {
        let (attributes, series) = told(Conventions::Both).await;
        for attributes in attributes {
            let expected = [
                "rpc.grpc.status_code=4",
                "rpc.method=test.v1.Echo/Unary",
                "rpc.service=test.v1.Echo",
                "rpc.status_code=DEADLINE_EXCEEDED",
                "rpc.system.name=grpc",
                "rpc.system=grpc",
            ];
            assert_eq!(attributes, expected);
        }
        assert_eq!(series, [NEW, OLD].concat());
    });
}

#[test]
fn both_sides_say_who_is_called() {
    alone(async || {
        let told = GrpcClientLayer::new().with_server("store.internal", 50051);
        let (recording, world) = (record(), World::new().await);
        let (port, mut world) = (world.address.port(), world.calling(&told));
        world.unary("hello").await.unwrap();
        let spans = spans_of(&recording, &BOTH).await;
        let of = |span: &FinishedSpan| ["server.address", "server.port"].map(|key| span.attribute(key).cloned());
        let expected = |address: &'static str, port: u16| {
            [OwnedValue::Str(address.into()), OwnedValue::I64(i64::from(port))].map(Some)
        };
        assert_eq!(of(of_kind(&spans, Kind::Client)), expected("store.internal", 50051));
        assert_eq!(of(of_kind(&spans, Kind::Server)), expected("127.0.0.1", port));
    });
}
