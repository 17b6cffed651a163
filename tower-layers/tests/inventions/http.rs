//! Whoever calls invents routes and methods, and whoever is called names.

use std::collections::HashSet;
use std::convert::Infallible;

use crate::support::http::series;
use crate::support::{Restored, alone, meter, record};
use axum::body::Body;
use http::{Request, Response, StatusCode};
use tower::ServiceExt;
use tower_layer::Layer;
use tracecast::__layers::conventions::{Conventions, set_http};
use tracecast_tower::{HttpClientLayer, HttpServerLayer};

#[test]
fn invented_routes_and_methods_make_no_series() {
    alone(async || {
        let recording = record();
        let _both = Restored::after(set_http, Conventions::Both);
        let (_metering, mut reader) = meter();
        let nobody = tower::service_fn(async |_: Request<Body>| {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NOT_FOUND;
            Ok::<_, Infallible>(response)
        });
        // The worst that an application can do: it takes the path for a route.
        let server = HttpServerLayer::new().with_route(|request| Some(request.uri().path())).layer(nobody);
        let mut names = HashSet::new();
        for n in 0..100_000 {
            let request =
                Request::builder().method(format!("M{n}").as_str()).uri(format!("http://host{n}/invented/{n}"));
            server.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
            if n % 1000 == 999 {
                names.extend(recording.drain().into_iter().map(|span| span.name));
            }
        }
        let expected = [
            "{http.request.method=_OTHER, http.route=_OTHER, http.response.status_code=404, url.scheme=http, network.protocol.version=1.1} count=100000",
        ];
        assert_eq!(series(&mut reader, "http.server.request.duration", &expected).await, expected);
        let expected = ["{http.request.method=_OTHER, http.route=_OTHER, tc.http.status_class=4xx} count=100000"];
        assert_eq!(series(&mut reader, "tc_http_server_duration_seconds", &expected).await, expected);
        assert!(names.contains("HTTP") && names.len() <= 129, "{} names", names.len());
    });
}

#[test]
fn routes_that_answer_are_known_up_to_a_limit() {
    alone(async || {
        let _both = Restored::after(set_http, Conventions::Both);
        let (_metering, mut reader) = meter();
        let anybody = tower::service_fn(async |_: Request<Body>| Ok::<_, Infallible>(Response::new(Body::empty())));
        let server = HttpServerLayer::new().with_route(|request| Some(request.uri().path())).layer(anybody);
        for n in 0..20_000 {
            let request = Request::get(format!("http://host/wide/{n}")).body(Body::empty()).unwrap();
            server.clone().oneshot(request).await.unwrap();
        }
        let snapshot = reader.snapshot().to_string();
        for name in ["http.server.request.duration", "tc_http_server_duration_seconds"] {
            let found = snapshot.lines().filter(|line| line.starts_with(name)).count();
            assert!((300..=386).contains(&found), "{found} of {name}");
            assert!(
                snapshot.lines().any(|line| line.starts_with(name) && line.contains("http.route=_OTHER")),
                "{name}"
            );
        }
    });
}

#[test]
fn invented_servers_make_no_series_once_there_are_too_many() {
    alone(async || {
        let recording = record();
        let _both = Restored::after(set_http, Conventions::Both);
        let (_metering, mut reader) = meter();
        let everybody = tower::service_fn(async |request: Request<Body>| match request.uri().path() {
            "/lost" => Err(std::io::Error::from(std::io::ErrorKind::HostUnreachable)),
            _ => Ok(Response::new(Body::empty())),
        });
        let client = HttpClientLayer::new().layer(everybody);
        let called = async |n: usize, path: &str| {
            let request = Request::builder().method(format!("M{n}").as_str()).uri(format!("http://host{n}:{n}/{path}"));
            client.clone().oneshot(request.body(Body::empty()).unwrap()).await.is_ok()
        };
        for n in 1..50_000 {
            assert!(!called(n, "lost").await);
            if n % 1000 == 0 {
                recording.drain();
            }
        }
        let name = "http.client.request.duration";
        let expected = [
            "{http.request.method=_OTHER, server.address=_OTHER, url.scheme=http, error.type=unreachable} count=49999",
        ];
        assert_eq!(series(&mut reader, name, &expected).await, expected);
        for n in 1..50_000 {
            assert!(called(n, "found").await);
            if n % 1000 == 0 {
                recording.drain();
            }
        }
        let snapshot = reader.snapshot().to_string();
        for name in [name, "tc_http_client_duration_seconds"] {
            let found = snapshot.lines().filter(|line| line.starts_with(name)).count();
            assert!((300..=387).contains(&found), "{found} of {name}");
        }
    });
}
