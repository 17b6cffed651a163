//! Every way in which a request can end, over real sockets, HTTP/1.1 and HTTP/2, seen from both sides.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use crate::support::http::{
    Version, World, alone, app, check, check_lost, end_of_client, ends, plain, request_to_one_that_says, served,
};
use crate::support::{self, BOTH, hangs, of_kind, record, spans_of, text};
use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use tower::ServiceExt;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::TimeoutLayer;
use tower_layer::Layer;
use tower_service::Service;
use tracecast::{Kind, Outcome};
use tracecast_tower::{HttpClientLayer, HttpServerLayer};

#[test]
fn ok() {
    served(async |recording, world| {
        assert_eq!(world.fetch("GET", "/items/7?token=secret").await, (StatusCode::OK, "item 7".to_owned()));
        let spans = spans_of(&recording, &BOTH).await;
        let (client, server) = (of_kind(&spans, Kind::Client), of_kind(&spans, Kind::Server));
        check(client, Some(200), Outcome::Ok, None);
        check(server, Some(200), Outcome::Ok, None);
        assert_eq!((&*client.name, &*server.name), ("GET", "GET /items/{id}"));
        assert_eq!((server.trace_id, server.parent_span_id), (client.trace_id, Some(client.span_id)));
        let handler = spans.iter().find(|span| span.name == "Handler/Item").unwrap();
        assert_eq!(handler.parent_span_id, Some(server.span_id));
        assert_eq!(text(server, "http.response.body.size").as_deref(), Some("6"));
        assert_eq!(text(client, "http.response.body.size").as_deref(), Some("6"));
    });
}

#[test]
fn not_found() {
    served(async |recording, world| {
        assert_eq!(world.fetch("GET", "/nowhere/7").await.0, StatusCode::NOT_FOUND);
        let (client, server) = ends(&recording).await;
        check(&client, Some(404), Outcome::Error, Some("404"));
        check(&server, Some(404), Outcome::Ok, None);
        assert_eq!(server.name, "GET");
        assert_eq!(text(&server, "http.route"), None);
    });
}

#[test]
fn error_of_the_server() {
    served(async |recording, world| {
        assert_eq!(world.fetch("PUT", "/status/503").await.0, StatusCode::SERVICE_UNAVAILABLE);
        let (client, server) = ends(&recording).await;
        check(&client, Some(503), Outcome::Error, Some("503"));
        check(&server, Some(503), Outcome::Error, Some("503"));
        assert_eq!(server.name, "PUT /status/{code}");
    });
}

#[test]
fn without_a_body() {
    served(async |recording, world| {
        for (method, path, status) in
            [("HEAD", "/items/7", 200), ("HEAD", "/stream/3", 200), ("GET", "/status/204", 204)]
        {
            assert_eq!(world.fetch(method, path).await.0.as_u16(), status);
            let (client, server) = ends(&recording).await;
            check(&client, Some(i64::from(status)), Outcome::Ok, None);
            check(&server, Some(i64::from(status)), Outcome::Ok, None);
        }
    });
}

#[test]
fn a_streamed_body() {
    served(async |recording, world| {
        assert_eq!(world.fetch("GET", "/stream/1000").await.1.len(), 10_000);
        let (client, server) = ends(&recording).await;
        for span in [client, server] {
            check(&span, Some(200), Outcome::Ok, None);
            assert_eq!(text(&span, "http.response.body.size").as_deref(), Some("10000"));
        }
    });
}

#[test]
fn a_body_that_is_complete_before_it_says_so() {
    served(async |recording, world| {
        assert_eq!(world.fetch("GET", "/sized/3").await.1.len(), 30);
        let (client, server) = ends(&recording).await;
        check(&client, Some(200), Outcome::Ok, None);
        check(&server, Some(200), Outcome::Ok, None);
    });
}

#[test]
fn a_body_that_fails_midway() {
    served(async |recording, world| {
        world.fetch_broken("/broken/3", 30).await;
        let (client, server) = ends(&recording).await;
        check(&server, Some(200), Outcome::Error, Some("timeout"));
        check_lost(&client, Some(200));
        assert_eq!(text(&client, "http.response.body.size").as_deref(), Some("30"));
    });
}

#[test]
fn the_client_drops_midway() {
    alone(async |version| {
        // A timeout is for the headers, and they were in time.
        let layer = HttpServerLayer::new().with_timeout(Duration::from_nanos(1));
        let (recording, world) = (record(), World::with(version, layer).await);
        let mut response = world.send(world.request("GET", "/endless/1")).await.unwrap();
        assert!(response.body_mut().frame().await.unwrap().unwrap().is_data());
        drop(response);
        let (client, server) = ends(&recording).await;
        check(&client, Some(200), Outcome::Cancelled, None);
        check(&server, Some(200), Outcome::Cancelled, None);
    });
}

#[test]
fn the_client_drops_before_headers() {
    served(async |recording, world| {
        let hangs = hangs();
        tokio::select! {
            _ = world.send(world.request("GET", "/hang")) => panic!("it answered"),
            () = hangs => {}
        }
        let (client, server) = ends(&recording).await;
        check(&client, None, Outcome::Cancelled, None);
        check(&server, None, Outcome::Cancelled, None);
    });
}

#[test]
fn an_error_that_nobody_reads_is_one() {
    served(async |recording, world| {
        drop(world.send(world.request("GET", "/status/500")).await.unwrap());
        let (client, _) = ends(&recording).await;
        check(&client, Some(500), Outcome::Error, Some("500"));
    });
}

#[test]
fn the_handler_panics() {
    served(async |recording, world| {
        world.send(world.request("GET", "/panic")).await.unwrap_err();
        let (client, server) = ends(&recording).await;
        check(&server, None, Outcome::Panicked, Some("panic"));
        check_lost(&client, None);
    });
}

#[test]
fn a_panic_that_is_answered() {
    alone(async |version| {
        let router = app().layer(CatchPanicLayer::new()).layer(HttpServerLayer::new());
        let (recording, world) = (record(), World::serving(version, router).await);
        assert_eq!(world.fetch("GET", "/panic").await.0, StatusCode::INTERNAL_SERVER_ERROR);
        let (_, server) = ends(&recording).await;
        check(&server, Some(500), Outcome::Error, Some("500"));
        assert_eq!(server.name, "GET /panic");
    });
}

#[test]
fn the_handler_panics_midway() {
    served(async |recording, world| {
        world.fetch_broken("/bursting/2", 20).await;
        let (client, server) = ends(&recording).await;
        check(&server, Some(200), Outcome::Panicked, Some("panic"));
        check_lost(&client, Some(200));
    });
}

#[test]
fn connection_refused() {
    served(async |recording, world| {
        // Nobody listens there, and the system gives this port to nobody.
        let request = Request::get("http://127.0.0.1:1/").body(Body::empty()).unwrap();
        world.send(request).await.unwrap_err();
        let client = end_of_client(&recording).await;
        check(&client, None, Outcome::Error, Some("connection_refused"));
    });
}

#[test]
fn the_server_drops_the_connection() {
    served(async |recording, world| {
        world.send(request_to_one_that_says(b"").await).await.unwrap_err();
        check_lost(&end_of_client(&recording).await, None);
    });
}

#[test]
fn the_connection_is_lost_midway() {
    support::alone(async || {
        let (recording, world) = (record(), World::new(Version::One).await);
        let cut = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello";
        let request = request_to_one_that_says(cut).await;
        let response = world.send(request).await.unwrap();
        response.into_body().collect().await.unwrap_err();
        let client = end_of_client(&recording).await;
        check_lost(&client, Some(200));
        assert_eq!(text(&client, "http.response.body.size").as_deref(), Some("5"));
    });
}

#[test]
fn a_timeout_inside_of_the_server() {
    alone(async |version| {
        let timeout = TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, Duration::from_millis(20));
        let router = app().layer(timeout).layer(HttpServerLayer::new());
        let (recording, world) = (record(), World::serving(version, router).await);
        assert_eq!(world.fetch("GET", "/hang").await.0, StatusCode::GATEWAY_TIMEOUT);
        let (_, server) = ends(&recording).await;
        check(&server, Some(504), Outcome::Error, Some("504"));
    });
}

#[test]
fn a_timeout_outside_of_the_server() {
    alone(async |version| {
        // It is told of less than there is: its own clock begins a little later than that of whoever is outside.
        let timeout = TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, Duration::from_millis(300));
        let router = app().layer(HttpServerLayer::new().with_timeout(Duration::from_millis(20))).layer(timeout);
        let (recording, world) = (record(), World::serving(version, router).await);
        assert_eq!(world.fetch("GET", "/hang").await.0, StatusCode::GATEWAY_TIMEOUT);
        let (client, server) = ends(&recording).await;
        check(&server, None, Outcome::Error, Some("timeout"));
        check(&client, Some(504), Outcome::Error, Some("504"));
    });
}

#[test]
fn a_timeout_of_the_client() {
    alone(async |version| {
        let (recording, world) = (record(), World::new(version).await);
        let limit = Duration::from_millis(20);
        let inside = HttpClientLayer::new().layer(tower::timeout::Timeout::new(plain(version), limit));
        inside.oneshot(world.request("GET", "/hang")).await.unwrap_err();
        let client = end_of_client(&recording).await;
        check(&client, None, Outcome::Error, Some("timeout"));

        let told = HttpClientLayer::new().with_timeout(limit).layer(plain(version));
        let outside = tower::timeout::Timeout::new(told, Duration::from_millis(300));
        outside.oneshot(world.request("GET", "/hang")).await.unwrap_err();
        let client = end_of_client(&recording).await;
        check(&client, None, Outcome::Error, Some("timeout"));
    });
}

#[test]
fn trailers_are_the_end() {
    support::alone(async || {
        let recording = record();
        let trailing = tower::service_fn(async |_: Request<Body>| {
            let data = Ok::<_, Infallible>(Frame::data(Bytes::from_static(b"hello")));
            let frames = [data, Ok(Frame::trailers(HeaderMap::new()))];
            Ok::<_, Infallible>(Response::new(StreamBody::new(tokio_stream::iter(frames))))
        });
        let service = HttpServerLayer::new().layer(trailing);
        let mut body = service.oneshot(Request::new(Body::empty())).await.unwrap().into_body();
        assert!(body.frame().await.unwrap().unwrap().is_data());
        assert_eq!(recording.drain().len(), 0);
        assert!(body.frame().await.unwrap().unwrap().is_trailers());
        let spans = recording.drain();
        check(of_kind(&spans, Kind::Server), Some(200), Outcome::Ok, None);
    });
}

#[test]
fn a_request_that_nobody_waits_for() {
    alone(async |_| {
        let recording = record();
        let service =
            tower::service_fn(|_: Request<Body>| std::future::pending::<Result<Response<Body>, Infallible>>());
        drop(HttpServerLayer::new().layer(service).oneshot(Request::new(Body::empty())));
        assert_eq!(recording.drain().len(), 0);
        let mut service = HttpServerLayer::new().layer(service);
        drop(service.call(Request::new(Body::empty())));
        let spans = recording.drain();
        check(of_kind(&spans, Kind::Server), None, Outcome::Cancelled, None);
    });
}

#[test]
fn a_service_that_panics_when_it_is_called() {
    alone(async |_| {
        let recording = record();
        let service = tower::service_fn(|_: Request<Body>| -> std::future::Ready<Result<Response<Body>, Infallible>> {
            panic!("as it was told")
        });
        let mut service = HttpServerLayer::new().layer(service);
        let called = AssertUnwindSafe(|| drop(service.call(Request::new(Body::empty()))));
        assert!(std::panic::catch_unwind(called).is_err());
        let spans = recording.drain();
        check(of_kind(&spans, Kind::Server), None, Outcome::Panicked, Some("panic"));
    });
}

#[test]
fn an_upgrade_ends_with_the_answer() {
    support::alone(async || {
        let (recording, world) = (record(), World::new(Version::One).await);
        let response = world.send(world.request("GET", "/upgrade")).await.unwrap();
        assert_eq!(response.status(), StatusCode::SWITCHING_PROTOCOLS);
        let (client, server) = ends(&recording).await;
        check(&client, Some(101), Outcome::Ok, None);
        check(&server, Some(101), Outcome::Ok, None);
    });
}
