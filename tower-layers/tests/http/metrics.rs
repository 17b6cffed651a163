//! Requests are counted, timed and known while they last, whatever their end, by labels that no caller can add to.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use crate::support::http::{GO_ON, Version, World, app, ends, plain, series};
use crate::support::{Restored, alone, hangs, meter, record};
use axum::Router;
use axum::body::Body;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use tower::ServiceExt;
use tower_layer::Layer;
use tracecast::__layers::conventions::{Conventions, set_http};
use tracecast::OwnedValue;
use tracecast::testing::{PointValue, Reader};
use tracecast_tower::{HttpClientLayer, HttpServerLayer};

async fn active(reader: &mut Reader, expected: f64) -> f64 {
    let limit = Instant::now() + Duration::from_secs(20);
    loop {
        let active = reader.snapshot().value("tc_http_server_active", &[]).map_or(0.0, PointValue::as_f64);
        if active == expected || Instant::now() > limit {
            return active;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[test]
fn every_ending_is_counted_and_none_stays_in_flight() {
    alone(async || {
        // Also where spans are not recorded.
        let _both = Restored::after(set_http, Conventions::Both);
        let (_metering, mut reader) = meter();
        // Routes of its own: those of other tests may be known already.
        let app = Router::new().nest("/measured", app()).layer(HttpServerLayer::new());
        let world = World::serving(Version::One, app).await;
        let (host, port) = (world.address.ip(), world.address.port());
        world.fetch("GET", "/measured/items/7").await;
        world.fetch("GET", "/measured/items/8").await;
        world.fetch("GET", "/nowhere").await;
        world.fetch("GET", "/measured/status/500").await;
        world.fetch("DELETE", "/measured/items/7").await;
        world.fetch_broken("/measured/broken/2", 20).await;
        world.send(world.request("GET", "/measured/panic")).await.unwrap_err();
        let (hangs, hanging) = (hangs(), world.send(world.request("GET", "/measured/hang")));
        let mut hanging = Box::pin(hanging);
        tokio::select! {
            _ = &mut hanging => panic!("it answered"),
            () = hangs => {}
        }
        assert_eq!(active(&mut reader, 1.0).await, 1.0);
        drop(hanging);
        assert_eq!(active(&mut reader, 0.0).await, 0.0);

        let served = [
            "{http.request.method=DELETE, http.route=_OTHER, http.response.status_code=405, url.scheme=http, network.protocol.version=1.1} count=1",
            "{http.request.method=GET, http.response.status_code=404, url.scheme=http, network.protocol.version=1.1} count=1",
            "{http.request.method=GET, http.route=/measured/broken/{chunks}, http.response.status_code=200, url.scheme=http, network.protocol.version=1.1, error.type=timeout} count=1",
            "{http.request.method=GET, http.route=/measured/items/{id}, http.response.status_code=200, url.scheme=http, network.protocol.version=1.1} count=2",
            "{http.request.method=GET, http.route=/measured/status/{code}, http.response.status_code=500, url.scheme=http, network.protocol.version=1.1, error.type=500} count=1",
            "{http.request.method=GET, http.route=_OTHER, url.scheme=http, network.protocol.version=1.1, error.type=panic} count=1",
            "{http.request.method=GET, http.route=_OTHER, url.scheme=http, network.protocol.version=1.1} count=1",
        ];
        assert_eq!(series(&mut reader, "http.server.request.duration", &served).await, served);
        let briefly = [
            "{http.request.method=DELETE, http.route=_OTHER, tc.http.status_class=4xx} count=1",
            "{http.request.method=GET, http.route=/measured/broken/{chunks}, tc.http.status_class=2xx} count=1",
            "{http.request.method=GET, http.route=/measured/items/{id}, tc.http.status_class=2xx} count=2",
            "{http.request.method=GET, http.route=/measured/status/{code}, tc.http.status_class=5xx} count=1",
            "{http.request.method=GET, http.route=_OTHER} count=2",
            "{http.request.method=GET, tc.http.status_class=4xx} count=1",
        ];
        assert_eq!(series(&mut reader, "tc_http_server_duration_seconds", &briefly).await, briefly);

        let of = |method: &str, rest: &str| {
            format!("{{http.request.method={method}, server.address={host}, server.port={port}, {rest}")
        };
        let got = "http.response.status_code=200, url.scheme=http, network.protocol.version=1.1";
        let mut called = [
            of("GET", &format!("{got}}} count=2")),
            of("GET", &format!("{got}, error.type=connection_closed}} count=1")),
            of(
                "GET",
                "http.response.status_code=404, url.scheme=http, network.protocol.version=1.1, error.type=404} count=1",
            ),
            of(
                "GET",
                "http.response.status_code=500, url.scheme=http, network.protocol.version=1.1, error.type=500} count=1",
            ),
            of("GET", "url.scheme=http, error.type=connection_closed} count=1"),
            of("GET", "url.scheme=http} count=1"),
            of(
                "DELETE",
                "http.response.status_code=405, url.scheme=http, network.protocol.version=1.1, error.type=405} count=1",
            ),
        ];
        called.sort();
        let called: Vec<_> = called.iter().map(String::as_str).collect();
        assert_eq!(series(&mut reader, "http.client.request.duration", &called).await, called);
    });
}

#[test]
fn a_server_is_one_however_its_port_is_written() {
    alone(async || {
        let _both = Restored::after(set_http, Conventions::Both);
        let (_metering, mut reader) = meter();
        let everybody = tower::service_fn(async |_: Request<Body>| Ok::<_, Infallible>(Response::new(Body::empty())));
        let client = HttpClientLayer::new().layer(everybody);
        for uri in [
            "http://one.test/",
            "http://one.test:80/",
            "http://u:p@one.test:0080/",
            "http://one.test:8080/",
            "https://one.test:443/",
            "http://[::7]:9/",
        ] {
            client.clone().oneshot(Request::get(uri).body(Body::empty()).unwrap()).await.unwrap();
        }
        let expected = [
            ("::7", "9", "http", 1),
            ("_OTHER", "", "http", 1),
            ("one.test", "443", "https", 1),
            ("one.test", "80", "http", 2),
            ("one.test", "8080", "http", 1),
        ];
        let expected: Vec<_> = expected
            .iter()
            .map(|(host, port, scheme, count)| {
                let port = if port.is_empty() { String::new() } else { format!(", server.port={port}") };
                format!("{{http.request.method=GET, server.address={host}{port}, http.response.status_code=200, url.scheme={scheme}, network.protocol.version=1.1}} count={count}")
            })
            .collect();
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        assert_eq!(series(&mut reader, "http.client.request.duration", &expected).await, expected);
    });
}

#[test]
fn the_first_byte_of_a_response_is_timed_where_that_is_asked_for() {
    alone(async || {
        let (recording, (_metering, mut reader)) = (record(), meter());
        let world = World::new(Version::One).await;
        world.fetch("GET", "/items/7").await;
        let (client, server) = ends(&recording).await;
        for span in [client, server] {
            assert_eq!(span.attribute("tc.response.first_byte_seconds"), None, "{span:#?}");
        }
        assert_eq!(series(&mut reader, "tc_http_server_first_byte_seconds", &[]).await, [""; 0]);

        let app = Router::new().nest("/first", app()).layer(HttpServerLayer::new().with_first_byte());
        let mut world = World::serving(Version::One, app).await;
        world.client = HttpClientLayer::new().with_first_byte().layer(plain(Version::One));
        let began = Instant::now();
        let mut body = world.send(world.request("GET", "/first/broken/1")).await.unwrap().into_body();
        body.frame().await.unwrap().unwrap();
        let seen = began.elapsed().as_secs_f64();
        GO_ON.notify_one();
        body.collect().await.unwrap_err();
        let (client, server) = ends(&recording).await;
        for span in [client, server] {
            let Some(OwnedValue::F64(first)) = span.attribute("tc.response.first_byte_seconds") else {
                panic!("{span:#?}")
            };
            assert!(*first > 0.0 && *first <= seen, "{first} {seen}");
        }
        // It has no body of which a byte could be the first.
        world.fetch("GET", "/first/status/204").await;
        let served = ["{http.request.method=GET, http.route=/first/broken/{chunks}, tc.http.status_class=2xx} count=1"];
        assert_eq!(series(&mut reader, "tc_http_server_first_byte_seconds", &served).await, served);
        let (host, port) = (world.address.ip(), world.address.port());
        let called = format!(
            "{{http.request.method=GET, server.address={host}, server.port={port}, tc.http.status_class=2xx}} count=1"
        );
        assert_eq!(
            series(&mut reader, "tc_http_client_first_byte_seconds", &[&called]).await,
            std::slice::from_ref(&called)
        );
    });
}

/// The names of all histograms of durations that have points after a request.
async fn recorded(conventions: Conventions) -> Vec<String> {
    let _restored = Restored::after(set_http, conventions);
    let (_metering, mut reader) = meter();
    let world = World::new(Version::One).await;
    world.fetch("GET", "/items/7").await;
    assert_eq!(active(&mut reader, 0.0).await, 0.0);
    let snapshot = reader.snapshot();
    let measured =
        snapshot.metrics.iter().filter(|metric| metric.name.contains("duration") && !metric.points.is_empty());
    measured.map(|metric| metric.name.to_string()).collect()
}

#[test]
fn a_request_has_one_duration_on_each_side_unless_both_conventions_are_asked_for() {
    alone(async || {
        let (ours, theirs) = (
            ["tc_http_client_duration_seconds", "tc_http_server_duration_seconds"],
            ["http.client.request.duration", "http.server.request.duration"],
        );
        for (conventions, expected) in [
            (Conventions::default(), ours.to_vec()),
            (Conventions::Stable, theirs.to_vec()),
            (Conventions::Both, [theirs, ours].concat()),
        ] {
            let mut recorded = recorded(conventions).await;
            recorded.sort();
            assert_eq!(recorded, expected, "{conventions:?}");
        }
    });
}
