//! Calls are counted, timed and known while they last, whatever their end, by labels that no caller can add to.

mod support;

use std::convert::Infallible;
use std::time::{Duration, Instant};

use http::{Request, Response};
use support::{World, alone, hangs, record};
use tokio_stream::StreamExt;
use tonic::Status;
use tonic::body::Body;
use tower::ServiceExt;
use tower_layer::Layer;
use tracecast::{Metering, MeteringConfig, Reader, Temporality};
use tracecast_tower::GrpcServerLayer;

fn meter() -> (Metering, Reader) {
    let metering = Metering::start(MeteringConfig::default()).unwrap();
    let reader = metering.reader(Temporality::Cumulative);
    (metering, reader)
}

/// The lines of a metric, once they are as expected; or what they are after a while.
async fn lines(reader: &mut Reader, name: &str, expected: &str) -> String {
    let limit = Instant::now() + Duration::from_secs(20);
    loop {
        let all = reader.snapshot().to_string();
        let found: Vec<_> = all.lines().filter(|line| line.starts_with(name)).collect();
        let found = found.join("\n");
        if found == expected || Instant::now() > limit {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

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
            let path = http::uri::PathAndQuery::from_static(support::UNARY);
            other.unary(tonic::Request::new("hang".to_owned()), path, support::Texts).await
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
            "tc_rpc_server_duration_seconds{rpc.method=test.v1.Echo/Unary, rpc.grpc.status_code=0} count=1",
            "tc_rpc_server_duration_seconds{rpc.method=test.v1.Echo/Unary, rpc.grpc.status_code=1} count=1",
            "tc_rpc_server_duration_seconds{rpc.method=test.v1.Echo/Unary, rpc.grpc.status_code=2} count=1",
            "tc_rpc_server_duration_seconds{rpc.method=test.v1.Echo/Unary, rpc.grpc.status_code=5} count=1",
            "tc_rpc_server_duration_seconds{rpc.method=test.v1.Echo/ServerStream, rpc.grpc.status_code=0} count=1",
        ]);
        assert_eq!(lines(&mut reader, "tc_rpc_server_duration", &server).await, server);
        let client = text(&[
            "tc_rpc_client_duration_seconds{rpc.method=test.v1.Echo/Unary, rpc.grpc.status_code=0} count=1",
            "tc_rpc_client_duration_seconds{rpc.method=test.v1.Echo/Unary, rpc.grpc.status_code=1} count=2",
            "tc_rpc_client_duration_seconds{rpc.method=test.v1.Echo/Unary, rpc.grpc.status_code=5} count=1",
            "tc_rpc_client_duration_seconds{rpc.method=test.v1.Echo/ServerStream, rpc.grpc.status_code=0} count=1",
        ]);
        assert_eq!(lines(&mut reader, "tc_rpc_client_duration", &client).await, client);
    });
}

#[test]
fn invented_methods_make_no_series() {
    alone(async || {
        let recording = record();
        let (_metering, mut reader) = meter();
        let nobody = tower::service_fn(async |_: Request<Body>| {
            Ok::<Response<Body>, Infallible>(Status::unimplemented("nobody").into_http())
        });
        let server = GrpcServerLayer::new().with_methods(["/test.v1.Told/Get"]).layer(nobody);
        for n in 0..100_000 {
            let request = Request::builder().uri(format!("http://host/evil.Svc{n}/Method{n}")).body(Body::empty());
            server.clone().oneshot(request.unwrap()).await.unwrap();
            if n % 1000 == 0 {
                recording.drain();
            }
        }
        let told = Request::builder().uri("http://host/test.v1.Told/Get").body(Body::empty()).unwrap();
        server.oneshot(told).await.unwrap();
        let expected = text(&[
            "tc_rpc_server_duration_seconds{rpc.method=test.v1.Told/Get, rpc.grpc.status_code=12} count=1",
            "tc_rpc_server_duration_seconds{rpc.method=_OTHER, rpc.grpc.status_code=12} count=100000",
        ]);
        let found = lines(&mut reader, "tc_rpc_server_duration", &expected).await;
        let sorted = |text: &str| {
            let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&found), sorted(&expected));
        let names: std::collections::HashSet<_> = recording.drain().into_iter().map(|span| span.name).collect();
        assert!(names.contains("_OTHER") && names.contains("Told/Get") && names.len() == 2, "{names:?}");
    });
}
