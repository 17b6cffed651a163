//! The caller's context reaches the handler and goes on from there, as far as it is believed and as far as it may.

use crate::support::http::{Version, World, alone, app, plain};
use crate::support::{self, BOTH, SPAN, TRACE, of_kind, record, spans_of, text};
use axum::body::Body;
use http::{HeaderMap, Request};
use http_body_util::BodyExt;
use tower::ServiceExt;
use tower_layer::Layer;
use tracecast::prelude::*;
use tracecast::testing::{Recording, RecordingConfig};
use tracecast::{Context, Kind, Sampler};
use tracecast_tower::{HttpClientLayer, HttpServerLayer};

mod keys {
    tracecast::tc_keys! {
        /// Whose request it is.
        pub id tenant: str = "tenant";
        /// Not asked for.
        pub id other: str = "other";
    }
}

const BAGGAGE: &str = "tenant=x,other=y";

fn caller(flags: &str) -> Context {
    support::caller(flags, BAGGAGE)
}

fn unchanged(flags: &str) -> String {
    support::unchanged(flags, BAGGAGE)
}

/// Has the world's client send baggage to the world.
fn trusting(world: &mut World, version: Version) {
    world.client = HttpClientLayer::new().with_baggage_to(["127.0.0.1"]).layer(plain(version));
}

#[test]
fn state_and_baggage_go_on_with_the_innermost_span() {
    alone(async |version| {
        let (recording, mut world) = (record(), World::new(version).await);
        trusting(&mut world, version);
        for path in ["/context", "/later"] {
            let (_, seen) = world.fetch("GET", path).in_context(&caller("01")).await;
            let spans = spans_of(&recording, &BOTH).await;
            let (client, server) = (of_kind(&spans, Kind::Client), of_kind(&spans, Kind::Server));
            assert_eq!(client.parent_span_id.unwrap().to_string(), SPAN);
            assert_eq!(server.parent_span_id, Some(client.span_id));
            assert!(server.parent_is_remote);
            assert_eq!(seen, unchanged("01").replace(SPAN, &server.span_id.to_string()), "{path}");
        }
    });
}

#[test]
fn unsampled_and_unrecorded_requests_go_on_as_they_came() {
    alone(async |version| {
        let mut world = World::new(version).await;
        trusting(&mut world, version);
        for flags in ["00", "01"] {
            let (_, seen) = world.fetch("GET", "/context").in_context(&caller(flags)).await;
            assert_eq!(seen, unchanged(flags));
        }
        let recording = record();
        let (_, first) = world.fetch("GET", "/context").in_context(&caller("00")).await;
        let (_, second) = world.fetch("GET", "/context").in_context(&caller("00")).await;
        let [one, two] = [&first, &second].map(|seen| &seen[49..65]);
        assert!(one != two && one != SPAN && two != SPAN, "each has a parent of its own: {first}{second}");
        assert_eq!((first.replace(one, SPAN), second.replace(two, SPAN)), (unchanged("00"), unchanged("00")));
        assert_eq!(recording.drain().len(), 0);
    });
}

#[test]
fn health_checks_are_transparent() {
    alone(async |version| {
        let router = axum::Router::new().route("/healthz", axum::routing::get(async || support::context()));
        let (recording, mut world) = (record(), World::serving(version, router.layer(HttpServerLayer::new())).await);
        world.client = HttpClientLayer::new().with_filter(|_| false).layer(plain(version));
        let mut request = world.request("GET", "/healthz");
        request.headers_mut().insert("traceparent", format!("00-{TRACE}-{SPAN}-01").parse().unwrap());
        let body = world.send(request).await.unwrap().into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, format!("traceparent: 00-{TRACE}-{SPAN}-01\n"));
        assert_eq!(recording.drain().len(), 0);
    });
}

#[test]
fn a_caller_that_is_not_trusted_is_linked() {
    alone(async |version| {
        let layer = HttpServerLayer::new()
            .with_trust(|peer| peer.address().is_none_or(|address| !address.ip().is_loopback()))
            .with_shared_baggage(keys::tenant);
        let (recording, mut world) = (record(), World::with(version, layer).await);
        trusting(&mut world, version);
        // Its decision is not taken over either.
        for flags in ["00", "01"] {
            let (_, seen) = world.fetch("GET", "/context").in_context(&caller(flags)).await;
            let spans = spans_of(&recording, &[Kind::Server]).await;
            let server = of_kind(&spans, Kind::Server);
            assert_ne!(server.trace_id.to_string(), TRACE);
            assert_eq!((server.parent_span_id, text(server, "tenant")), (None, None));
            assert_eq!(server.links.len(), 1, "{server:#?}");
            assert_eq!(server.links[0].trace_id.to_string(), TRACE);
            assert_eq!(seen, format!("traceparent: 00-{}-{}-03\n", server.trace_id, server.span_id));
            recording.drain();
        }
    });
}

#[test]
fn baggage_that_is_shared_is_on_the_spans_below() {
    alone(async |version| {
        let layer = HttpServerLayer::new().with_shared_baggage(keys::tenant);
        let (recording, mut world) = (record(), World::with(version, layer).await);
        trusting(&mut world, version);
        world.fetch("GET", "/items/7").in_context(&caller("01")).await;
        let spans = spans_of(&recording, &BOTH).await;
        let handler = spans.iter().find(|span| span.name == "Handler/Item").unwrap();
        for span in [of_kind(&spans, Kind::Server), handler] {
            assert_eq!((text(span, "tenant").as_deref(), text(span, "other")), (Some("x"), None), "{span:#?}");
        }
        assert_eq!(text(of_kind(&spans, Kind::Client), "tenant"), None);
    });
}

#[test]
fn each_route_has_its_sampler() {
    alone(async |version| {
        let layer = HttpServerLayer::new()
            .with_sampler("/items/{id}", Sampler::AlwaysOn)
            .with_sampler("/nowhere/*", Sampler::AlwaysOn);
        let config = RecordingConfig::default().with_sampler(Sampler::AlwaysOff);
        let (recording, mut world) = (Recording::start(config).unwrap(), World::with(version, layer).await);
        world.client = HttpClientLayer::new().with_filter(|_| false).layer(plain(version));
        // What an earlier test left.
        recording.drain();
        for path in ["/status/200", "/nowhere/else", "/items/7", "/stream/1"] {
            world.fetch("GET", path).await;
        }
        let mut names = Vec::new();
        while names.len() < 3 {
            names.extend(recording.drain().into_iter().map(|span| span.name.to_string()));
            tokio::task::yield_now().await;
        }
        names.sort();
        assert_eq!(names, ["GET", "GET /items/{id}", "Handler/Item"]);
    });
}

/// What a client's layer sends to a server, with this in the headers before.
async fn sent(layer: HttpClientLayer, uri: &str, before: &[(&'static str, &str)]) -> HeaderMap {
    let echo = tower::service_fn(async |request: Request<Body>| {
        let mut response = http::Response::new(Body::empty());
        *response.headers_mut() = request.headers().clone();
        Ok::<_, std::convert::Infallible>(response)
    });
    let mut request = Request::get(uri).body(Body::empty()).unwrap();
    before.iter().for_each(|(name, value)| drop(request.headers_mut().insert(*name, value.parse().unwrap())));
    let response = layer.layer(echo).oneshot(request).in_context(&caller("01")).await.unwrap();
    response.headers().clone()
}

#[test]
fn baggage_goes_to_everybody_unless_it_is_restricted() {
    support::alone(async || {
        let _recording = record();
        let stale = [("baggage", "secret=1"), ("traceparent", "stale"), ("tracestate", "stale=1")];
        let layer = HttpClientLayer::new().with_baggage_to(["store.internal", "*.svc.cluster.local"]);
        for (layer, uri, expected) in [
            (layer.clone(), "http://store.internal/", "tenant=x,other=y"),
            (layer.clone(), "https://a.svc.cluster.local:8443/x", "tenant=x,other=y"),
            (HttpClientLayer::new(), "http://anybody.example/", "tenant=x,other=y"),
            (HttpClientLayer::new().with_baggage_keys(["other", "nobody"]), "http://anybody.example/", "other=y"),
            (layer.clone().with_baggage_keys(["other"]), "http://store.internal/", "other=y"),
        ] {
            let headers = sent(layer, uri, &stale).await;
            assert_eq!(headers["baggage"], expected, "{uri}");
        }
        for (layer, uri) in [
            (layer.clone(), "http://store.internal.evil.com/"),
            (layer, "http://store.internal@evil.com/"),
            (HttpClientLayer::new().without_baggage(), "http://store.internal/"),
        ] {
            let headers = sent(layer, uri, &stale).await;
            assert!(!headers.contains_key("baggage"), "{uri} {headers:?}");
            let parent = headers["traceparent"].to_str().unwrap();
            assert!(parent.starts_with(&format!("00-{TRACE}-")) && !parent.contains(SPAN), "{parent}");
            assert_eq!(headers["tracestate"], "a=1");
        }
    });
}

#[test]
fn a_request_that_is_filtered_goes_as_it_is() {
    support::alone(async || {
        let recording = record();
        let layer = HttpClientLayer::new().with_filter(|request| request.uri().host() != Some("evil.com"));
        let headers = sent(layer.clone(), "http://evil.com/", &[("x-own", "1")]).await;
        assert_eq!((headers.len(), recording.drain().len()), (1, 0), "{headers:?}");
        assert!(sent(layer, "http://store.internal/", &[]).await.contains_key("traceparent"));
        assert_eq!(recording.drain().len(), 1);
    });
}

#[test]
fn hostile_headers_are_no_parent() {
    alone(async |version| {
        let (recording, mut world) = (record(), World::new(version).await);
        world.client = HttpClientLayer::new().with_filter(|_| false).layer(plain(version));
        let zero = "00-00000000000000000000000000000000-0000000000000000-01".to_owned();
        for wrong in ["x".repeat(4000), zero, "00--".to_owned()] {
            let mut request = world.request("GET", "/items/7");
            request.headers_mut().insert("traceparent", wrong.parse().unwrap());
            request.headers_mut().insert("baggage", ",=;".repeat(1000).parse().unwrap());
            assert_eq!(world.send(request).await.unwrap().status(), 200);
            let spans = spans_of(&recording, &[Kind::Server]).await;
            assert_eq!(of_kind(&spans, Kind::Server).parent_span_id, None);
        }
    });
}

#[test]
fn around_the_router_the_route_is_not_known() {
    alone(async |version| {
        let recording = record();
        let router = axum::Router::new().fallback_service(HttpServerLayer::new().layer(app()));
        let world = World::serving(version, router).await;
        world.fetch("GET", "/items/7").await;
        let spans = spans_of(&recording, &BOTH).await;
        assert_eq!(of_kind(&spans, Kind::Server).name, "GET");
    });
}
