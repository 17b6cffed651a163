//! Clients of reqwest have the same spans, metrics and propagation as other clients.

use std::time::Duration;

use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use tracecast::{FutureInSpan as _, Kind, Outcome, OwnedValue, Span};
use tracecast_tower::HttpClientLayer;

use crate::support::http::{GO_ON, Version, World, check, check_lost, end_of_client, ends, series};
use crate::support::{TRACE, alone, caller, hangs, meter, record, text, unchanged};

fn client(layer: HttpClientLayer) -> ClientWithMiddleware {
    ClientBuilder::new(reqwest::Client::new()).with(layer).build()
}

#[test]
fn a_request_is_a_span_from_its_headers_to_the_end_of_the_body() {
    alone(async || {
        let (recording, (_metering, mut reader)) = (record(), meter());
        let world = World::new(Version::One).await;
        let (host, port) = (world.address.ip(), world.address.port());
        let url = format!("http://{}/items/7?token=secret", world.address);
        let mut above = Span::builder("Test/Above", Kind::Internal).start();
        let context = above.context();
        let response = client(HttpClientLayer::new()).get(&url).send().in_context(&context).await.unwrap();
        assert_eq!((response.status().as_u16(), response.url().as_str()), (200, &*url));
        assert_eq!((response.content_length(), response.remote_addr()), (Some(6), Some(world.address)));
        // Nobody has read the body yet.
        assert!(recording.drain().iter().all(|span| span.kind != Kind::Client));
        assert_eq!(&response.bytes().await.unwrap()[..], b"item 7");
        above.event("read");

        let client = end_of_client(&recording).await;
        check(&client, Some(200), Outcome::Ok, None);
        assert_eq!((client.trace_id, client.parent_span_id), (context.trace_id(), Some(context.span_id())));
        let expected = [
            ("http.request.method", "GET".to_owned()),
            ("url.full", format!("http://{}/items/7?token=REDACTED", world.address)),
            ("server.address", host.to_string()),
            ("server.port", port.to_string()),
            ("network.protocol.version", "1.1".to_owned()),
            ("http.response.body.size", "6".to_owned()),
        ];
        for (key, expected) in expected {
            assert_eq!(text(&client, key), Some(expected), "{key}");
        }
        let called = format!(
            "{{http.request.method=GET, server.address={host}, server.port={port}, tc.http.status_class=2xx}} count=1"
        );
        assert_eq!(series(&mut reader, "tc_http_client_duration_seconds", &[&called]).await, [&*called]);
    });
}

#[test]
fn the_server_goes_on_with_the_trace() {
    alone(async || {
        let (recording, world) = (record(), World::new(Version::One).await);
        let url = format!("http://{}/echo", world.address);
        let sent = client(HttpClientLayer::new()).post(&url).body("hello").send().await.unwrap();
        assert_eq!(&sent.bytes().await.unwrap()[..], b"hello");
        let (client, server) = ends(&recording).await;
        assert_eq!((server.trace_id, server.parent_span_id), (client.trace_id, Some(client.span_id)));
        assert_eq!(client.attribute("http.request.body.size"), Some(&OwnedValue::U64(5)));
    });
}

#[test]
fn a_context_goes_on_where_nothing_is_recorded_and_baggage_where_it_may() {
    alone(async || {
        let world = World::new(Version::One).await;
        let url = format!("http://{}/context", world.address);
        let get = async |layer: HttpClientLayer| {
            let request = client(layer).get(&url).send().in_context(&caller("01", "k=v")).await;
            request.unwrap().text().await.unwrap()
        };
        assert_eq!(get(HttpClientLayer::new()).await, unchanged("01", "k=v"));
        let kept = get(HttpClientLayer::new().with_baggage_to(["elsewhere.test"])).await;
        assert!(kept.contains(TRACE) && !kept.contains("baggage"), "{kept}");
    });
}

#[test]
fn every_ending_has_its_error() {
    alone(async || {
        let (recording, world) = (record(), World::new(Version::One).await);
        let client = client(HttpClientLayer::new());
        let url = |path: &str| format!("http://{}{path}", world.address);
        client.get(url("/status/404")).send().await.unwrap().bytes().await.unwrap();
        check(&end_of_client(&recording).await, Some(404), Outcome::Error, Some("404"));

        // Nobody listens there, and the system gives this port to nobody.
        client.get("http://127.0.0.1:1/").send().await.unwrap_err();
        check(&end_of_client(&recording).await, None, Outcome::Error, Some("connection_refused"));

        client.get("http://nowhere.invalid/").send().await.unwrap_err();
        check(&end_of_client(&recording).await, None, Outcome::Error, Some("unreachable"));

        let hanging = client.get(url("/hang")).timeout(Duration::from_millis(50)).send().await;
        assert!(hanging.unwrap_err().is_timeout());
        check(&end_of_client(&recording).await, None, Outcome::Error, Some("timeout"));

        let mut broken = client.get(url("/broken/1")).send().await.unwrap();
        broken.chunk().await.unwrap().unwrap();
        GO_ON.notify_one();
        while let Ok(chunk) = broken.chunk().await {
            assert!(chunk.is_some(), "it ended well");
        }
        check_lost(&end_of_client(&recording).await, Some(200));

        let (hang, hanging) = (hangs(), client.get(url("/hang")).send());
        tokio::select! {
            _ = hanging => panic!("it answered"),
            () = hang => {}
        }
        check(&end_of_client(&recording).await, None, Outcome::Cancelled, None);
    });
}
