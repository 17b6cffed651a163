//! The test kit through a socket: what a server of the same process does for captured code is in the capture.

use tracecast::testing::capture_async;

use crate::support::alone;
use crate::support::grpc::World;

#[test]
fn the_server_side_is_in_the_tree() {
    alone(async || {
        let mut world = World::new().await;
        for _ in 0..20 {
            let captured = capture_async(async || world.unary("hello").await.unwrap()).await;
            let outline = "
                Echo/Unary [client]
                  Echo/Unary [server]
                    Handler/Unary
            ";
            captured.assert_outline(outline);
            assert_eq!(captured.outside_capture, [""; 0]);
            let active = captured.metric("tc_rpc_server_active", &[]);
            assert_eq!(active.map(|active| active.as_f64()), Some(0.0));
            let server = captured.metric("tc_rpc_server_duration_seconds", &[("rpc.grpc.status_code", "0")]);
            assert_eq!(server.map(ToString::to_string).as_deref(), Some("count=1"));
        }
    });
}
