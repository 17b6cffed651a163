//! Streams that live for long: seen before they end, segment by segment, and message by message where that is asked for.

use std::convert::Infallible;
use std::future::Future;
use std::sync::{Arc, mpsc as channel};
use std::task::{Context as TaskContext, Wake, Waker};
use std::time::{Duration, Instant};

use crate::support::grpc::{self, World};
use crate::support::{BOTH, alone, meter, of_kind, record, spans_of};
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::task::JoinHandle;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::Request;
use tonic::body::Body;
use tonic::transport::Server;
use tower_layer::Layer;
use tower_service::Service;
use tracecast::prelude::*;
use tracecast::testing::{FinishedSpan, PointValue, Recording};
use tracecast::{Kind, Outcome, OwnedValue};
use tracecast_tower::{GrpcClientLayer, GrpcServerLayer, MessageSpans};

fn number(span: &FinishedSpan, key: &str) -> Option<u64> {
    match span.attribute(key) {
        Some(OwnedValue::U64(number)) => Some(*number),
        None => None,
        other => panic!("{key} is {other:?}"),
    }
}

/// A bidirectional stream that somebody reads to its end.
struct Talk {
    send: UnboundedSender<String>,
    read: JoinHandle<usize>,
}

async fn talk(every: Duration) -> (World, Talk) {
    let server = GrpcServerLayer::new().with_max_span_duration(every);
    let world = World::with(server, Server::builder()).await;
    let mut world = world.calling(&GrpcClientLayer::new().with_max_span_duration(every));
    let (send, receive) = mpsc::unbounded_channel();
    send.send("first".to_owned()).unwrap();
    let stream = world.bidi(UnboundedReceiverStream::new(receive)).await.unwrap();
    let read = tokio::spawn(async move { stream.filter_map(Result::ok).collect::<Vec<_>>().await.len() });
    (world, Talk { send, read })
}

/// Waits until so many segments of each side have ended.
async fn segments(recording: &Recording, spans: &mut Vec<FinishedSpan>, least: u64) {
    let limit = Instant::now() + Duration::from_secs(30);
    let ended = |spans: &[FinishedSpan], kind| spans.iter().filter(|span| span.kind == kind).count() as u64;
    while BOTH.iter().any(|kind| ended(spans, *kind) < least) {
        assert!(Instant::now() < limit, "only these ended: {spans:#?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
        spans.extend(recording.drain());
    }
}

/// The spans of one side, the earliest first, after checking how they follow each other.
#[track_caller]
fn in_order(spans: &[FinishedSpan], kind: Kind) -> Vec<&FinishedSpan> {
    let mut spans: Vec<_> = spans.iter().filter(|span| span.kind == kind).collect();
    spans.sort_by_key(|span| number(span, "tc.rpc.segment"));
    for (at, span) in spans.iter().enumerate() {
        assert_eq!(number(span, "tc.rpc.segment"), Some(at as u64 + 1), "{span:#?}");
        let before = at.checked_sub(1).map(|before| spans[before].span_id);
        assert_eq!(span.links.first().map(|link| link.span_id), before, "{span:#?}");
        assert_eq!(span.name, "Echo/Bidi");
        assert_eq!(span.attribute("rpc.method"), Some(&OwnedValue::Str("Bidi".into())));
        let is_last = at + 1 == spans.len();
        assert_eq!(span.attribute("rpc.grpc.status_code").is_some(), is_last, "{span:#?}");
        assert_eq!(span.outcome, Outcome::Ok);
    }
    spans
}

#[test]
fn a_stream_is_seen_before_it_ends_also_if_nothing_happens() {
    alone(async || {
        let (recording, mut spans) = (record(), Vec::new());
        let (_metering, mut reader) = meter();
        let mut above = tracecast::Span::builder("Test/Above", Kind::Internal).start();
        let context = above.context();
        let (_world, talk) = talk(Duration::from_millis(40)).in_context(&context).await;
        above.event("begun");
        // Nothing is sent for a while.
        segments(&recording, &mut spans, 3).await;
        talk.send.send("second".to_owned()).unwrap();
        let so_far = BOTH.map(|kind| spans.iter().filter(|span| span.kind == kind).count() as u64).into_iter().max();
        segments(&recording, &mut spans, so_far.unwrap() + 1).await;
        drop(talk.send);
        assert_eq!(talk.read.await.unwrap(), 2);
        let with_status = |spans: &[FinishedSpan], kind| {
            spans.iter().any(|span| span.kind == kind && span.attribute("rpc.grpc.status_code").is_some())
        };
        let limit = Instant::now() + Duration::from_secs(20);
        while BOTH.iter().any(|kind| !with_status(&spans, *kind)) {
            assert!(Instant::now() < limit, "{spans:#?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
            spans.extend(recording.drain());
        }
        for kind in BOTH {
            let spans = in_order(&spans, kind);
            let sum = |key| spans.iter().filter_map(|span| number(span, key)).sum::<u64>();
            assert_eq!((sum("tc.rpc.request.messages"), sum("tc.rpc.response.messages")), (2, 2), "{spans:#?}");
            // Each has those of its own time only.
            let most = spans.iter().filter_map(|span| number(span, "tc.rpc.request.messages")).max();
            assert_eq!(most, Some(1), "{spans:#?}");
            let first = &spans[0];
            assert!(spans.iter().all(|span| span.parent_span_id == first.parent_span_id), "{spans:#?}");
            assert!(spans.iter().all(|span| span.trace_id == context.trace_id()), "{spans:#?}");
        }
        let count = |snapshot: &tracecast::testing::Snapshot, name: &str| {
            let points = &snapshot.metric(name).unwrap().points;
            points.iter().map(|point| point.value.as_f64()).sum::<f64>()
        };
        let snapshot = reader.snapshot();
        assert_eq!(count(&snapshot, "tc_rpc_server_duration_seconds"), 1.0, "{snapshot}");
        assert_eq!(count(&snapshot, "tc_rpc_server_request_messages_total"), 2.0, "{snapshot}");
        assert_eq!(count(&snapshot, "tc_rpc_client_response_bytes_total"), 11.0, "{snapshot}");
        assert_eq!(snapshot.value("tc_rpc_server_active", &[]).map(PointValue::as_f64), Some(0.0));
    });
}

#[test]
fn a_stream_without_a_parent_stays_in_the_trace_that_it_began() {
    alone(async || {
        let (recording, mut spans) = (record(), Vec::new());
        let (_world, talk) = talk(Duration::from_millis(40)).await;
        segments(&recording, &mut spans, 3).await;
        drop(talk.send);
        assert_eq!(talk.read.await.unwrap(), 1);
        let of = |kind| {
            let mut spans: Vec<_> = spans.iter().filter(|span| span.kind == kind).collect();
            spans.sort_by_key(|span| number(span, "tc.rpc.segment"));
            spans
        };
        let (clients, servers) = (of(Kind::Client), of(Kind::Server));
        let first = clients[0];
        assert_eq!(first.parent_span_id, None);
        for span in clients[1..].iter().chain(&servers) {
            assert_eq!((span.trace_id, span.parent_span_id), (first.trace_id, Some(first.span_id)), "{spans:#?}");
        }
        for two in clients.windows(2).chain(servers.windows(2)) {
            assert_eq!(two[1].links[0].span_id, two[0].span_id, "{spans:#?}");
        }
    });
}

#[test]
fn a_stream_that_begins_on_the_server_stays_in_one_trace_too() {
    alone(async || {
        let (recording, mut spans) = (record(), Vec::new());
        // What its callers say is not believed.
        let server = GrpcServerLayer::new().with_trust(|_| false).with_max_span_duration(Duration::from_millis(40));
        let mut world = World::with(server, Server::builder()).await;
        let (send, receive) = mpsc::unbounded_channel::<String>();
        let stream = world.bidi(UnboundedReceiverStream::new(receive)).await.unwrap();
        let limit = Instant::now() + Duration::from_secs(30);
        while spans.len() < 3 {
            assert!(Instant::now() < limit, "only these ended: {spans:#?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
            spans.extend(recording.drain());
        }
        drop((send, stream));
        spans.sort_by_key(|span: &FinishedSpan| number(span, "tc.rpc.segment"));
        let first = &spans[0];
        assert_eq!((first.kind, first.parent_span_id), (Kind::Server, None));
        for span in &spans[1..3] {
            assert_eq!((span.trace_id, span.parent_span_id), (first.trace_id, Some(first.span_id)), "{spans:#?}");
        }
    });
}

#[test]
fn a_call_that_ends_in_time_is_one_span() {
    alone(async || {
        let recording = record();
        let (_world, talk) = talk(Duration::from_secs(3600)).await;
        drop(talk.send);
        assert_eq!(talk.read.await.unwrap(), 1);
        let spans = spans_of(&recording, &BOTH).await;
        for kind in BOTH {
            grpc::check(&spans, kind, tonic::Code::Ok, Outcome::Ok, [1, 1]);
            assert_eq!(number(of_kind(&spans, kind), "tc.rpc.segment"), None);
        }
    });
}

/// The spans of this name, the earliest first.
fn named<'a>(spans: &'a [FinishedSpan], name: &str) -> Vec<&'a FinishedSpan> {
    let mut named: Vec<_> = spans.iter().filter(|span| span.name == name).collect();
    named.sort_by_key(|span| span.start_time());
    named
}

#[test]
fn messages_have_spans_where_they_are_handled_up_to_a_number() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        assert_eq!(world.client_stream(&["spans 3", "a", "b", "c", "d", "e"]).await.unwrap(), "5");
        let spans = spans_of(&recording, &BOTH).await;
        let server = of_kind(&spans, Kind::Server);
        let messages = named(&spans, "Handler/Message");
        let numbers: Vec<_> = messages.iter().map(|span| number(span, "tc.rpc.message")).collect();
        assert_eq!(numbers, [Some(1), Some(2), Some(3)]);
        assert!(messages.iter().all(|span| span.parent_span_id == Some(server.span_id)));
        assert_eq!(number(server, "tc.rpc.messages_without_span"), Some(2));
        // What a handler does is below the message's span, and below the stream's where it has none.
        let below: Vec<_> = named(&spans, "Handler/Handle").iter().map(|span| span.parent_span_id.unwrap()).collect();
        let expected: Vec<_> = messages.iter().map(|span| span.span_id).chain([server.span_id; 2]).collect();
        assert_eq!(below, expected);
    });
}

#[test]
fn a_message_that_fails_is_told_apart() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        assert!(world.client_stream(&["spans 3", "a", "fail 13", "c"]).await.is_err());
        let spans = spans_of(&recording, &BOTH).await;
        let outcomes: Vec<_> = named(&spans, "Handler/Message").iter().map(|span| span.outcome).collect();
        assert_eq!(outcomes, [Outcome::Ok, Outcome::Error]);
        assert_eq!(number(of_kind(&spans, Kind::Server), "tc.rpc.messages_without_span"), None);
    });
}

#[tc_span("Test/Read")]
async fn read(world: &mut World) -> usize {
    let stream = world.server_stream(Request::new("4".to_owned())).await.unwrap();
    let mut stream = std::pin::pin!(MessageSpans::new("Test/Received").with_cap(3).received(stream));
    let mut count = 0;
    while let Some(message) = stream.next().await {
        message.unwrap();
        count += 1;
    }
    count
}

#[test]
fn a_stream_may_have_spans_of_what_was_received() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        assert_eq!(read(&mut world).await, 4);
        let spans = spans_of(&recording, &BOTH).await;
        let around = named(&spans, "Test/Read")[0];
        let received = named(&spans, "Test/Received");
        assert_eq!(received.len(), 3);
        assert!(received.iter().all(|span| span.parent_span_id == Some(around.span_id)));
        // One ends before the next begins.
        assert!(received.windows(2).all(|two| two[0].end_time() <= two[1].start_time()));
        assert_eq!(number(around, "tc.rpc.messages_without_span"), Some(1));
    });
}

#[test]
fn a_stream_may_have_spans_of_what_was_sent() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        let texts = MessageSpans::new("Test/Sent").sent(tokio_stream::iter(["a".to_owned(), "b".to_owned()]));
        assert_eq!(world.bidi(texts).await.unwrap().collect::<Vec<_>>().await.len(), 2);
        let spans = spans_of(&recording, &BOTH).await;
        let numbers: Vec<_> = named(&spans, "Test/Sent").iter().map(|span| number(span, "tc.rpc.message")).collect();
        assert_eq!(numbers, [Some(1), Some(2)]);
    });
}

struct Tell(channel::SyncSender<()>);

impl Wake for Tell {
    fn wake(self: Arc<Self>) {
        let _ = self.0.send(());
    }
}

/// Has a call that waits for ever roll over, without a runtime, and counts the segments that have ended.
fn roll_over_once() -> usize {
    let recording = record();
    let waits = tower::service_fn(|_| std::future::pending::<Result<http::Response<Body>, Infallible>>());
    let mut service = GrpcServerLayer::new().with_max_span_duration(Duration::from_millis(10)).layer(waits);
    let mut call = std::pin::pin!(service.call(http::Request::new(Body::empty())));
    let (tell, told) = channel::sync_channel(8);
    let waker = Waker::from(Arc::new(Tell(tell)));
    let mut task = TaskContext::from_waker(&waker);
    assert!(call.as_mut().poll(&mut task).is_pending());
    told.recv_timeout(Duration::from_secs(20)).expect("nobody wakes it");
    assert!(call.as_mut().poll(&mut task).is_pending());
    recording.drain().len()
}

#[test]
#[cfg(unix)]
fn streams_of_a_forked_child_are_seen_too() {
    alone(async || {
        assert_eq!(roll_over_once(), 1);
        // SAFETY: the child runs the function, which allocates and locks what is unlocked here, and exits.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: plain system calls.
            unsafe {
                libc::alarm(30);
                libc::_exit(if std::panic::catch_unwind(roll_over_once).is_ok_and(|ended| ended == 1) { 0 } else { 1 });
            }
        }
        let mut status = 0;
        // SAFETY: the pointer is to a number of this test.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(status, 0, "the child has no alarms");
        assert_eq!(roll_over_once(), 1, "the parent goes on");
    });
}
