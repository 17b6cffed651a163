//! An error status is one frame of headers that ends the stream. Clients in other languages rely on it, tonic's does not.

use crate::support::grpc::{UNARY, World};
use crate::support::{alone, record};
use bytes::{BufMut, Bytes, BytesMut};
use http::Request;
use tonic::transport::Server;
use tracecast_tower::GrpcServerLayer;

/// The status in the first headers, and whether they ended the stream.
async fn answer(world: &World, text: &str) -> (Option<String>, bool) {
    let socket = tokio::net::TcpStream::connect(world.address).await.unwrap();
    let (mut client, connection) = h2::client::handshake(socket).await.unwrap();
    tokio::spawn(connection);
    let request = Request::post(format!("http://{}{UNARY}", world.address))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(())
        .unwrap();
    let (response, mut body) = client.send_request(request, false).unwrap();
    let mut message = BytesMut::new();
    message.put_u8(0);
    message.put_u32(text.len() as u32);
    message.put_slice(text.as_bytes());
    body.send_data(Bytes::from(message), true).unwrap();
    let response = response.await.unwrap();
    let status = response.headers().get("grpc-status").map(|status| status.to_str().unwrap().to_owned());
    (status, response.body().is_end_stream())
}

#[test]
fn of_each_code() {
    alone(async || {
        let (_recording, world) = (record(), World::new().await);
        for code in 1..17 {
            assert_eq!(answer(&world, &format!("fail {code}")).await, (Some(code.to_string()), true));
        }
        assert_eq!(answer(&world, "hello").await, (None, false));
    });
}

#[test]
fn also_where_nothing_is_recorded() {
    alone(async || {
        let world = World::new().await;
        assert_eq!(answer(&world, "fail 5").await, (Some("5".to_owned()), true));
    });
}

#[test]
fn of_a_panic_that_is_answered() {
    alone(async || {
        let layer = GrpcServerLayer::new().with_answered_panics();
        let world = World::with(layer, Server::builder()).await;
        assert_eq!(answer(&world, "panic").await, (Some("13".to_owned()), true));
        let _recording = record();
        assert_eq!(answer(&world, "panic").await, (Some("13".to_owned()), true));
        assert_eq!(answer(&world, "fail 5").await, (Some("5".to_owned()), true));
    });
}
