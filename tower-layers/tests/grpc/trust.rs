//! How much of what a caller says is believed, and which of what we know is told to whom we call.

use crate::support::grpc::{UNARY, World};
use crate::support::{self, BOTH, TRACE, alone, of_kind, record, spans_of};
use tonic::Request;
use tonic::transport::Server;
use tracecast::prelude::*;
use tracecast::{Context, Kind, OwnedValue, Sampler};
use tracecast_tower::{GrpcClientLayer, GrpcServerLayer, Peer};

mod keys {
    tracecast::tc_keys! {
        /// Who pays.
        pub id tenant: str = "tc.tenant.id";
        /// What it belongs to; it travels.
        pub id run: str = "tc.run.id" { baggage };
    }
}

fn caller(flags: &str) -> Context {
    support::caller(flags, "tc.tenant.id=x%20y,tc.secret.id=z")
}

fn is_friend(peer: &Peer<'_>) -> bool {
    assert!(!peer.headers().contains_key("x-panic"), "as it was told");
    let is_near = peer.address().is_some_and(|address| address.ip().is_loopback());
    is_near && peer.path() == UNARY && peer.headers().contains_key("x-friend")
}

fn from(header: &'static str) -> Request<String> {
    let mut request = Request::new("context".to_owned());
    request.metadata_mut().insert(header, "1".parse().unwrap());
    request
}

async fn suspicious() -> World {
    World::with(GrpcServerLayer::new().with_trust(is_friend), Server::builder()).await
}

#[test]
fn a_caller_that_is_not_trusted_is_only_linked() {
    alone(async || {
        let (recording, mut world) = (record(), suspicious().await);
        // Neither does it decide what is sampled; a policy that panics trusts nobody.
        for (header, flags) in [("x-stranger", "01"), ("x-stranger", "00"), ("x-panic", "01")] {
            let seen = world.unary_with(from(header)).in_context(&caller(flags)).await.unwrap();
            let kinds = if flags == "01" { &BOTH[..] } else { &[Kind::Server] };
            let spans = spans_of(&recording, kinds).await;
            let server = of_kind(&spans, Kind::Server);
            assert_eq!((server.parent_span_id, server.links.len()), (None, 1), "{header} {flags}");
            assert_ne!(server.trace_id.to_string(), TRACE);
            assert_eq!(server.links[0].trace_id.to_string(), TRACE);
            if flags == "01" {
                assert_eq!(server.links[0].span_id, of_kind(&spans, Kind::Client).span_id);
            }
            let handler = spans.iter().find(|span| span.name == "Handler/Unary").unwrap();
            assert_eq!(seen, format!("traceparent: 00-{}-{}-03\n", server.trace_id, handler.span_id));
        }
    });
}

#[test]
fn a_caller_that_is_trusted_is_the_parent() {
    alone(async || {
        let (recording, mut world) = (record(), suspicious().await);
        let seen = world.unary_with(from("x-friend")).in_context(&caller("01")).await.unwrap();
        let spans = spans_of(&recording, &BOTH).await;
        let server = of_kind(&spans, Kind::Server);
        assert_eq!(server.parent_span_id, Some(of_kind(&spans, Kind::Client).span_id));
        assert_eq!((server.trace_id.to_string().as_str(), server.links.len()), (TRACE, 0));
        assert!(seen.contains("tracestate: a=1\n") && seen.contains("tc.tenant.id=x%20y"), "{seen}");
    });
}

#[test]
fn nothing_of_a_stranger_goes_on_where_nothing_is_recorded() {
    alone(async || {
        let mut world = suspicious().await;
        assert_eq!(world.unary_with(from("x-stranger")).in_context(&caller("01")).await.unwrap(), "");
        let seen = world.unary_with(from("x-friend")).in_context(&caller("01")).await.unwrap();
        assert!(seen.contains(TRACE), "{seen}");
    });
}

#[test]
fn only_baggage_that_was_named_becomes_attributes() {
    alone(async || {
        let layer = GrpcServerLayer::new().with_shared_baggage(keys::tenant);
        let (recording, mut world) = (record(), World::with(layer, Server::builder()).await);
        world.unary("hello").in_context(&caller("01")).await.unwrap();
        let spans = spans_of(&recording, &BOTH).await;
        let server = of_kind(&spans, Kind::Server);
        let handler = spans.iter().find(|span| span.name == "Handler/Unary").unwrap();
        for span in [server, handler] {
            assert_eq!(span.attribute("tc.tenant.id"), Some(&OwnedValue::Str("x y".into())), "{span:#?}");
            assert_eq!(span.attribute("tc.secret.id"), None, "{span:#?}");
        }
        assert_eq!(of_kind(&spans, Kind::Client).attribute("tc.tenant.id"), None);
    });
}

#[test]
fn baggage_of_a_stranger_becomes_no_attribute() {
    alone(async || {
        let layer = GrpcServerLayer::new().with_shared_baggage(keys::tenant).with_trust(|_| false);
        let (recording, mut world) = (record(), World::with(layer, Server::builder()).await);
        world.unary("hello").in_context(&caller("01")).await.unwrap();
        let spans = spans_of(&recording, &BOTH).await;
        assert_eq!(of_kind(&spans, Kind::Server).attribute("tc.tenant.id"), None);
    });
}

#[test]
fn only_baggage_that_was_named_is_sent() {
    alone(async || {
        let named = GrpcClientLayer::new().with_baggage_keys(["tc.tenant.id", "tc.nobody.id"]);
        let (_recording, mut world) = (record(), World::new().await.calling(&named));
        let seen = world.unary("context").in_context(&caller("01")).await.unwrap();
        assert!(seen.contains("baggage: tc.tenant.id=x%20y\n") && seen.contains(TRACE), "{seen}");
    });
}

#[test]
fn baggage_goes_to_allowed_servers_only() {
    alone(async || {
        let restricted = GrpcClientLayer::new().with_baggage_to(["store.internal"]);
        for (layer, expected) in [
            (GrpcClientLayer::new(), true),
            (restricted.clone().with_server("store.internal", 50051), true),
            (restricted.clone().with_server("partner.example", 50051), false),
            // Nobody knows whom the channel calls.
            (restricted, false),
        ] {
            let (_recording, mut world) = (record(), World::new().await.calling(&layer));
            let seen = world.unary("context").in_context(&caller("01")).await.unwrap();
            assert_eq!((seen.contains("baggage: "), seen.contains(TRACE)), (expected, true), "{layer:?} {seen}");
        }
    });
}

#[tc_span("Trust/Shares", share(keys::run = "seven"))]
async fn shares<F: Future>(work: F) -> F::Output {
    work.await
}

#[test]
fn shared_keys_go_to_allowed_servers_only() {
    alone(async || {
        let restricted = GrpcClientLayer::new().with_baggage_to(["store.internal"]);
        for (layer, expected) in [
            (GrpcClientLayer::new(), true),
            (restricted.clone().with_server("store.internal", 50051), true),
            (restricted.with_server("partner.example", 50051), false),
            (GrpcClientLayer::new().without_baggage(), false),
        ] {
            let (_recording, mut world) = (record(), World::new().await.calling(&layer));
            let seen = shares(world.unary("context")).await.unwrap();
            assert_eq!(seen.contains("tc.run.id=seven"), expected, "{layer:?} {seen}");
            assert!(seen.contains("traceparent: "), "{seen}");
        }
    });
}

#[test]
fn each_route_has_its_sampler() {
    alone(async || {
        let layer = GrpcServerLayer::new()
            .with_sampler(UNARY, Sampler::AlwaysOff)
            .with_sampler("/test.v1.*", Sampler::AlwaysOn)
            .with_sampler("*", Sampler::AlwaysOff);
        let silent = GrpcClientLayer::new().with_filter(|_| false);
        let (recording, world) = (record(), World::with(layer, Server::builder()).await);
        let mut world = world.calling(&silent);
        for _ in 0..20 {
            world.unary("hello").await.unwrap();
        }
        world.client_stream(&["a"]).await.unwrap();
        let spans = spans_of(&recording, &[Kind::Server]).await;
        assert_eq!(of_kind(&spans, Kind::Server).name, "Echo/ClientStream");
        // A caller that has decided is followed.
        world.unary("hello").in_context(&caller("01")).await.unwrap();
        let spans = spans_of(&recording, &[Kind::Server]).await;
        assert_eq!(of_kind(&spans, Kind::Server).trace_id.to_string(), TRACE);
    });
}
