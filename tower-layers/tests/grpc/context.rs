//! The caller's context reaches the handler and goes on from there: recorded, unsampled, filtered, or with nothing recorded.

use crate::support::grpc::{World, channel};
use crate::support::{self, BOTH, TRACE, alone, of_kind, record, spans_of};
use tonic::Request;
use tonic::transport::Server;
use tower_layer::Layer;
use tracecast::prelude::*;
use tracecast::testing::{Recording, RecordingConfig};
use tracecast::{Context, Kind, Sampler, propagation};
use tracecast_tower::{GrpcClientLayer, GrpcServerLayer, HttpHeadersMut};

const BAGGAGE: &str = "tenant=x";

fn caller(flags: &str) -> Context {
    support::caller(flags, BAGGAGE)
}

fn unchanged(flags: &str) -> String {
    support::unchanged(flags, BAGGAGE)
}

#[test]
fn state_and_baggage_go_on_with_the_innermost_span() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        for flags in ["01", "03"] {
            let seen = world.unary("context").in_context(&caller(flags)).await.unwrap();
            let spans = spans_of(&recording, &BOTH).await;
            let (client, server) = (of_kind(&spans, Kind::Client), of_kind(&spans, Kind::Server));
            let handler = spans.iter().find(|span| span.name == "Handler/Unary").unwrap();
            assert_eq!(client.parent_span_id.unwrap().to_string(), "b7ad6b7169203331");
            assert_eq!(server.parent_span_id, Some(client.span_id));
            assert_eq!(seen, unchanged(flags).replace("b7ad6b7169203331", &handler.span_id.to_string()));
        }
    });
}

#[test]
fn the_context_is_current_while_a_response_is_streamed() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        let mut stream = world.server_stream(Request::new("0 context".to_owned())).await.unwrap();
        let seen = stream.message().await.unwrap().unwrap();
        while stream.message().await.unwrap().is_some() {}
        let spans = spans_of(&recording, &BOTH).await;
        let server = of_kind(&spans, Kind::Server);
        assert_eq!(seen, format!("traceparent: 00-{}-{}-03\n", server.trace_id, server.span_id));
    });
}

#[test]
fn unsampled_calls_go_on_as_they_came_but_for_the_id_of_each() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        for flags in ["00", "02"] {
            let mut ids = vec!["b7ad6b7169203331".to_owned()];
            for _ in 0..3 {
                let seen = world.unary("context").in_context(&caller(flags)).await.unwrap();
                let id = seen[49..65].to_owned();
                assert_eq!(seen, unchanged(flags).replace(&ids[0], &id));
                ids.push(id);
            }
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), 4, "each call has a parent of its own: {ids:?}");
        }
        assert_eq!(recording.drain().len(), 0);
    });
}

#[test]
fn unsampled_roots_are_unsampled_everywhere() {
    alone(async || {
        let config = RecordingConfig::default().with_sampler(Sampler::AlwaysOff);
        let (recording, mut world) = (Recording::start(config).unwrap(), World::new().await);
        let seen = world.unary("context").await.unwrap();
        assert!(seen.starts_with("traceparent: 00-") && seen.ends_with("-02\n"), "{seen}");
        assert_eq!(recording.drain().len(), 0);
    });
}

#[test]
fn where_nothing_is_recorded_headers_go_on() {
    alone(async || {
        let mut world = World::new().await;
        let seen = world.unary("context").in_context(&caller("01")).await.unwrap();
        assert_eq!(seen, unchanged("01"));
        assert_eq!(world.unary("context").await.unwrap(), "");
        let mut stream = world.server_stream(traced_by_hand("0 context")).await.unwrap();
        assert_eq!(stream.message().await.unwrap().unwrap(), unchanged("01"));
    });
}

/// A request whose metadata was written by somebody else.
fn traced_by_hand(text: &str) -> Request<String> {
    let mut request = Request::new(text.to_owned());
    propagation::inject(&caller("01"), &mut HttpHeadersMut::from(request.metadata_mut()));
    request
}

#[test]
fn filtered_calls_are_transparent() {
    alone(async || {
        let layer = GrpcServerLayer::new().with_filter(|path| !path.ends_with("/Unary"));
        let (recording, mut world) = (record(), World::with(layer, Server::builder()).await);
        let quiet = GrpcClientLayer::new().with_filter(|_| false).layer(channel(world.address));
        world.client = tonic::client::Grpc::new(quiet);
        world.unary("context").in_context(&caller("01")).await.unwrap();
        let spans = spans_of(&recording, &[Kind::Internal]).await;
        assert_eq!(spans.len(), 1, "{spans:#?}");
        assert_eq!(spans[0].parent_span_id.unwrap().to_string(), "b7ad6b7169203331");
    });
}

#[test]
fn baggage_stays_here_if_it_is_told_to() {
    alone(async || {
        let (_recording, mut world) = (record(), World::new().await);
        let discreet = GrpcClientLayer::new().without_baggage().layer(channel(world.address));
        world.client = tonic::client::Grpc::new(discreet);
        let seen = world.unary("context").in_context(&caller("01")).await.unwrap();
        assert!(seen.contains("tracestate: a=1") && !seen.contains("baggage"), "{seen}");
    });
}

#[test]
fn hostile_headers_are_no_parent() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        world.client =
            tonic::client::Grpc::new(GrpcClientLayer::new().with_filter(|_| false).layer(channel(world.address)));
        let zero = "00-00000000000000000000000000000000-0000000000000000-01".to_owned();
        for wrong in ["x".repeat(4000), zero, "00--".to_owned()] {
            let mut request = Request::new("hello".to_owned());
            request.metadata_mut().insert("traceparent", wrong.parse().unwrap());
            request.metadata_mut().insert("baggage", ",=;".repeat(1000).parse().unwrap());
            assert_eq!(world.unary_with(request).await.unwrap(), "hello");
            let spans = spans_of(&recording, &[Kind::Server]).await;
            assert_eq!(of_kind(&spans, Kind::Server).parent_span_id, None);
        }
    });
}

#[test]
fn baggage_that_is_kept_here_does_not_go_with_metadata_that_is_passed_on_either() {
    alone(async || {
        let recording = record();
        for layer in [GrpcClientLayer::new().without_baggage(), GrpcClientLayer::new().with_baggage_keys(["tenant"])] {
            let mut world = World::new().await.calling(&layer);
            let mut request = Request::new("context".to_owned());
            request.metadata_mut().insert("baggage", "secret=1".parse().unwrap());
            let seen = world.unary_with(request).await.unwrap();
            assert!(seen.contains("traceparent") && !seen.contains("secret"), "{seen}");
        }
        drop(recording);
    });
}

#[test]
fn metadata_of_a_caller_that_is_passed_on_is_replaced_or_removed() {
    alone(async || {
        let stale = || {
            let mut request = traced_by_hand("context");
            request.metadata_mut().append("baggage", "secret=1".parse().unwrap());
            request
        };
        let mut world = World::new().await;
        assert_eq!(world.unary_with(stale()).await.unwrap(), unchanged("01").replace("x\n", "x,secret=1\n"));
        let recording = record();
        let seen = world.unary_with(stale()).await.unwrap();
        assert!(seen.starts_with("traceparent: ") && seen.lines().count() == 1 && !seen.contains(TRACE), "{seen}");
        drop(recording);
    });
}
