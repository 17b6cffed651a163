//! Whoever calls invents methods and hosts.

use std::collections::HashSet;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::ops::Range;
use std::time::Duration;

use http::{Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpSocket;
use tonic::Status;
use tonic::body::Body;
use tower::ServiceExt;
use tower_layer::Layer;
use tracecast::__layers::conventions::{Conventions, set_rpc};
use tracecast::testing::Reader;
use tracecast_tower::{GrpcClientLayer, GrpcServerLayer};

use crate::support::grpc::{World, lines};
use crate::support::{Restored, alone, meter, record};

/// A call of a method that nobody has, with a host that nobody has: one frame of HTTP/2.
fn frame(n: usize, stream: u32) -> Vec<u8> {
    let field = |name: u8, value: String| [&[name, value.len() as u8], value.as_bytes()].concat();
    let path = field(0x04, format!("/evil.Svc{n}/Method{n}"));
    // `:method POST` and `:scheme http` are in HPACK's own table, the others are written out.
    let block = [vec![0x83, 0x86], path, field(0x01, format!("host{n}"))].concat();
    let head = [0, 0, block.len() as u8, 0x01, 0x05];
    [&head[..], &stream.to_be_bytes(), &block].concat()
}

/// Makes such calls over a connection from this address, and waits until all were answered. A whole client takes longer
/// than what is tested.
async fn invent(from: [u8; 4], to: SocketAddr, calls: Range<usize>) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    let mut connection = BufReader::new(socket.connect(to).await.unwrap());
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    connection.write_all(&[&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &settings].concat()).await.unwrap();
    let calls: Vec<_> = calls.zip((1_u32..).step_by(2)).collect();
    for some in calls.chunks(100) {
        let frames: Vec<_> = some.iter().flat_map(|(n, stream)| frame(*n, *stream)).collect();
        connection.write_all(&frames).await.unwrap();
        let mut answered = 0;
        while answered < some.len() {
            let mut head = [0; 9];
            connection.read_exact(&mut head).await.unwrap();
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            connection.read_exact(&mut vec![0; length as usize]).await.unwrap();
            assert!(matches!(head[3], 1 | 3 | 4 | 8), "a frame of the type {}", head[3]);
            // The headers of an answer without a body are all of it.
            answered += usize::from(head[3] == 1 && head[4] & 1 == 1);
        }
    }
}

/// What callers who invent methods leave behind: series of the server's metrics, and names of spans.
async fn check_left_behind(reader: &mut Reader, calls: usize, names: &HashSet<String>) {
    let labels = |service, method| format!("rpc.service={service}, rpc.method={method}, rpc.grpc.status_code=12");
    let line = |labels, count| format!("tc_rpc_server_duration_seconds{{{labels}}} count={count}");
    let expected = [line(labels("_OTHER", "_OTHER"), calls), line(labels("test.v1.Told", "Get"), 1)].join("\n");
    assert_eq!(lines(reader, "tc_rpc_server_duration", &expected).await, expected);
    let snapshot = reader.snapshot();
    let of_server = snapshot.metrics.iter().filter(|metric| metric.name.starts_with("tc_rpc_server"));
    assert!(of_server.map(|metric| metric.points.len()).sum::<usize>() < 10, "{snapshot}");
    // A few names are taken as they come.
    assert!(names.contains("_OTHER") && names.len() < 300, "{}", names.len());
}

fn knowing() -> GrpcServerLayer {
    GrpcServerLayer::new().with_methods(["/test.v1.Told/Get"])
}

#[test]
fn invented_methods_make_no_series_and_no_names_over_the_wire() {
    const CALLS: usize = 20_000;
    const PEERS: usize = 20;
    alone(async || {
        let recording = record();
        let (_metering, mut reader) = meter();
        let mut world = World::with(knowing(), tonic::transport::Server::builder()).await;
        let peers = (0..PEERS).map(|peer| {
            let calls = CALLS / PEERS * peer..CALLS / PEERS * (peer + 1);
            tokio::spawn(invent([127, 0, 1, peer as u8 + 1], world.address, calls))
        });
        let peers: Vec<_> = peers.collect();
        let (mut names, mut addresses) = (HashSet::new(), HashSet::new());
        while !peers.iter().all(|peer| peer.is_finished()) {
            for span in recording.drain() {
                addresses.extend(span.attribute("network.peer.address").map(ToString::to_string));
                names.insert(span.name.to_string());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        for peer in peers {
            peer.await.unwrap();
        }
        world.call(tonic::Request::new(String::new()), "/test.v1.Told/Get").await.unwrap_err();
        check_left_behind(&mut reader, CALLS, &names).await;
        assert_eq!(addresses.len(), PEERS, "{addresses:?}");
    });
}

// Not an async closure: with one, rustc 1.95 panics when it compiles this again after the layers have changed.
async fn nobody(_: Request<Body>) -> Result<Response<Body>, Infallible> {
    Ok(Status::unimplemented("nobody").into_http())
}

#[test]
fn a_hundred_thousand_methods_and_peers_make_no_series_and_no_names() {
    const CALLS: usize = 100_000;
    alone(async || {
        let recording = record();
        let (_metering, mut reader) = meter();
        let (server, mut names, mut peers) =
            (knowing().layer(tower::service_fn(nobody)), HashSet::new(), HashSet::new());
        for n in 0..CALLS {
            let request = Request::builder().uri(format!("http://host{n}/evil.Svc{n}/Method{n}"));
            let peer = SocketAddr::from(((n as u32).to_be_bytes(), n as u16));
            server.clone().oneshot(request.extension(peer).body(Body::empty()).unwrap()).await.unwrap();
            if n % 1000 == 0 || n + 1 == CALLS {
                for span in recording.drain() {
                    peers.extend(span.attribute("network.peer.address").map(ToString::to_string));
                    names.insert(span.name.to_string());
                }
            }
        }
        let told = Request::builder().uri("http://host/test.v1.Told/Get").body(Body::empty()).unwrap();
        server.oneshot(told).await.unwrap();
        check_left_behind(&mut reader, CALLS, &names).await;
        assert_eq!(peers.len(), CALLS);
    });
}

async fn answers(request: Request<Body>) -> Result<Response<Body>, Infallible> {
    drop(request);
    Ok(Status::not_found("gone").into_http())
}

async fn fails(_: Request<Body>) -> Result<Response<Body>, Status> {
    Err(Status::unavailable("nobody"))
}

/// A program calls servers whose names its own callers say.
#[test]
fn invented_servers_make_few_series_of_calls_that_were_made() {
    alone(async || {
        let _stable = Restored::after(set_rpc, Conventions::Stable);
        let (_metering, mut reader) = meter();
        let request = |server: String| {
            Request::builder().uri(format!("http://{server}/test.v1.Told/Put")).body(Body::empty()).unwrap()
        };
        let failing = GrpcClientLayer::new().layer(tower::service_fn(fails));
        for n in 0..1_000 {
            failing.clone().oneshot(request(format!("invented{n}"))).await.unwrap_err();
        }
        let failed = "rpc.client.call.duration{rpc.system.name=grpc, rpc.method=_OTHER, server.address=_OTHER, \
                      rpc.status_code=UNAVAILABLE, error.type=UNAVAILABLE} count=1000";
        assert_eq!(lines(&mut reader, "rpc.client.call.duration", failed).await, failed);

        let answering = GrpcClientLayer::new().layer(tower::service_fn(answers));
        for n in 0..1_000 {
            answering.clone().oneshot(request(format!("user:secret@answering{n}:50051"))).await.unwrap();
        }
        let text = reader.snapshot().to_string();
        let answered: Vec<_> = text.lines().filter(|line| line.contains("NOT_FOUND")).collect();
        assert_eq!(answered.len(), 257, "256 servers are known: {text}");
        assert!(answered.iter().any(|line| line.contains("server.address=answering0, server.port=50051, ")), "{text}");
        let others = "server.address=_OTHER, rpc.status_code=NOT_FOUND, error.type=NOT_FOUND} count=744";
        assert!(answered.iter().any(|line| line.ends_with(others)), "{text}");
    });
}
