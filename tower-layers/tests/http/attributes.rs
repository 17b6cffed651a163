//! What spans say of their requests, by the conventions for HTTP, and what they keep to themselves.

use crate::support::http::{Version, World, alone};
use crate::support::{self, BOTH, of_kind, record, spans_of, text};
use axum::body::Body;
use http::Request;
use tower::ServiceExt;
use tower_layer::Layer;
use tracecast::testing::FinishedSpan;
use tracecast::{Kind, OwnedValue};
use tracecast_tower::HttpServerLayer;

#[track_caller]
fn check(span: &FinishedSpan, expected: &[(&str, &str)]) {
    for (key, value) in expected {
        assert_eq!(text(span, key).as_deref(), Some(*value), "{key} of {span:#?}");
    }
}

#[test]
fn both_sides_follow_the_conventions() {
    alone(async |version| {
        let layer = HttpServerLayer::new().with_user_agent();
        let (recording, world) = (record(), World::with(version, layer).await);
        let uri = format!("http://user:secret@{}/echo?token=secret&page=2&c2VjcmV0", world.address);
        let request = Request::post(uri).header("user-agent", "test/1").body(Body::from("hello")).unwrap();
        assert_eq!(world.send(request).await.unwrap().status(), 200);
        let spans = spans_of(&recording, &BOTH).await;
        let (client, server) = (of_kind(&spans, Kind::Client), of_kind(&spans, Kind::Server));
        let (host, port) = (world.address.ip().to_string(), world.address.port().to_string());
        let protocol = if version == Version::One { "1.1" } else { "2" };
        let common = [
            ("http.request.method", "POST"),
            ("http.response.status_code", "200"),
            ("server.address", &host),
            ("server.port", &port),
            ("network.protocol.version", protocol),
            ("http.request.body.size", "5"),
        ];
        check(client, &common);
        check(server, &common);
        let full = format!("http://{host}:{port}/echo?token=REDACTED&page=REDACTED&REDACTED");
        check(client, &[("url.full", &full)]);
        check(
            server,
            &[
                ("http.route", "/echo"),
                ("url.scheme", "http"),
                ("url.path", "/echo"),
                ("url.query", "token=REDACTED&page=REDACTED&REDACTED"),
                ("user_agent.original", "test/1"),
                ("network.peer.address", "127.0.0.1"),
            ],
        );
        assert!(matches!(server.attribute("network.peer.port"), Some(OwnedValue::I64(1..))), "{server:#?}");
        for span in [client, server] {
            assert!(!format!("{span:?}").contains("secret"), "{span:#?}");
            assert_eq!(text(span, "http.request.method_original"), None);
        }
    });
}

#[test]
fn an_unknown_method_is_kept_on_the_span_alone() {
    alone(async |version| {
        let (recording, world) = (record(), World::new(version).await);
        world.fetch("BREW", "/status/200").await;
        let spans = spans_of(&recording, &BOTH).await;
        let (client, server) = (of_kind(&spans, Kind::Client), of_kind(&spans, Kind::Server));
        assert_eq!((&*client.name, &*server.name), ("HTTP", "HTTP /status/{code}"));
        for span in [client, server] {
            check(span, &[("http.request.method", "_OTHER"), ("http.request.method_original", "BREW")]);
        }
    });
}

#[test]
fn the_server_says_it_is_encrypted_if_it_is_told() {
    support::alone(async || {
        let recording = record();
        let anybody = tower::service_fn(async |_: Request<Body>| {
            Ok::<_, std::convert::Infallible>(http::Response::new(Body::empty()))
        });
        let request = || Request::get("/a").header("host", "store.internal").body(Body::empty()).unwrap();
        for (layer, scheme, port) in
            [(HttpServerLayer::new(), "http", "80"), (HttpServerLayer::new().with_tls(), "https", "443")]
        {
            layer.layer(anybody).oneshot(request()).await.unwrap();
            let spans = spans_of(&recording, &[Kind::Server]).await;
            let server = of_kind(&spans, Kind::Server);
            check(server, &[("url.scheme", scheme), ("server.address", "store.internal"), ("server.port", port)]);
            assert_eq!(text(server, "user_agent.original"), None);
        }
    });
}

#[test]
fn endless_values_are_cut() {
    support::alone(async || {
        let recording = record();
        let anybody = tower::service_fn(async |_: Request<Body>| {
            Ok::<_, std::convert::Infallible>(http::Response::new(Body::empty()))
        });
        let (path, query, host) = ("p".repeat(20_000), "a=1&".repeat(5_000), "h".repeat(20_000));
        let request =
            Request::get(format!("/{path}?{query}")).header("host", host).header("user-agent", "u".repeat(9_000));
        let layer = HttpServerLayer::new().with_user_agent();
        layer.layer(anybody).oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let spans = spans_of(&recording, &[Kind::Server]).await;
        let server = of_kind(&spans, Kind::Server);
        let length = |key| text(server, key).map(|text| text.len());
        assert_eq!((length("url.path"), length("user_agent.original")), (Some(1024), Some(1024)));
        assert!(length("url.query").unwrap() <= 4096 && length("server.address").is_none(), "{server:#?}");
    });
}
