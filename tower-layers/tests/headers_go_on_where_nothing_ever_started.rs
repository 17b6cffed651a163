//! In a process of its own, because it never starts telemetry: it still passes on what its callers sent.

mod support;

use std::convert::Infallible;
use std::future::{Future as _, poll_fn};
use std::task::{Context as TaskContext, Poll, Waker};

use support::alone;
use support::grpc::World;
use tonic::Request;
use tonic::body::Body;
use tower::{Layer as _, Service as _, service_fn};
use tracecast::{Context, SpanId, propagation};
use tracecast_tower::{GrpcServerLayer, HttpHeadersMut};

#[test]
fn from_a_handler_and_from_a_stream() {
    alone(async || {
        let incoming = vec![
            ("traceparent".to_owned(), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
            ("baggage".to_owned(), "tenant=x".to_owned()),
        ];
        let sent: String = incoming.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        let request = |text: &str| {
            let mut request = Request::new(text.to_owned());
            let caller = propagation::extract(&incoming);
            propagation::inject(&caller, &mut HttpHeadersMut::from(request.metadata_mut()));
            request
        };
        let mut world = World::new().await;
        assert_eq!(world.unary_with(request("context")).await.unwrap(), sent);
        let mut stream = world.server_stream(request("0 context")).await.unwrap();
        assert_eq!(stream.message().await.unwrap().unwrap(), sent);
    });
}

/// More calls than contexts can be held for, of which each is worked on in that of its own caller.
#[test]
fn from_any_number_of_calls_at_a_time() {
    const CALLS: u64 = 40_000;
    let number = |request: &http::Request<Body>| request.headers()["x-number"].to_str().unwrap().parse().unwrap();
    let mut service = GrpcServerLayer::new().layer(service_fn(|request: http::Request<Body>| {
        let expected = SpanId(number(&request));
        let mut polls = 0;
        poll_fn(move |_| {
            assert_eq!(Context::current().span_id(), expected);
            polls += 1;
            let answer = Ok::<_, Infallible>(http::Response::new(Body::empty()));
            if polls == 2 { Poll::Ready(answer) } else { Poll::Pending }
        })
    }));
    let call = |number: u64| {
        let parent = format!("00-0af7651916cd43dd8448eb211c80319c-{number:016x}-01");
        let request = http::Request::builder().header("traceparent", parent).header("x-number", number);
        Box::pin(service.call(request.body(Body::empty()).unwrap()))
    };
    let mut calls: Vec<_> = (1..=CALLS).map(call).collect();
    let mut task = TaskContext::from_waker(Waker::noop());
    assert!(calls.iter_mut().all(|call| call.as_mut().poll(&mut task).is_pending()));
    assert!(calls.iter_mut().all(|call| call.as_mut().poll(&mut task).is_ready()));
    assert!(!Context::current().is_valid());
}
