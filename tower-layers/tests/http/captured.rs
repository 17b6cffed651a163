//! The test kit through a socket: what a server of the same process does for captured code is in the capture.

use tracecast::testing::capture_async;

use crate::support::alone;
use crate::support::http::{Version, World};

#[test]
fn the_server_side_is_in_the_tree() {
    alone(async || {
        let worlds = [World::new(Version::One).await, World::new(Version::Two).await];
        for world in &worlds {
            for _ in 0..20 {
                let captured = capture_async(async || world.fetch("GET", "/items/7").await).await;
                let outline = "
                    GET [client]
                      GET /items/{id} [server]
                        Handler/Item
                ";
                captured.assert_outline(outline);
                assert_eq!(captured.outside_capture, [""; 0]);
                let active = captured.metric("tc_http_server_active", &[]);
                assert_eq!(active.map(|active| active.as_f64()), Some(0.0));
                let server = captured.metric("tc_http_server_duration_seconds", &[("http.route", "/items/{id}")]);
                assert_eq!(server.map(ToString::to_string).as_deref(), Some("count=1"));
            }
        }
    });
}

#[test]
fn other_requests_are_reported() {
    alone(async || {
        let world = World::new(Version::One).await;
        let captured = capture_async(async || {
            let mut request = world.request("GET", "/items/7");
            let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().unwrap();
            request.headers_mut().insert("traceparent", parent);
            // Around the client's layer, and with a trace that no capture has sent.
            crate::support::http::plain(Version::One).request(request).await.unwrap()
        })
        .await;
        captured.assert_outline("");
        assert!(captured.outside_capture.contains(&"GET /items/{id}"), "{:?}", captured.outside_capture);
    });
}
