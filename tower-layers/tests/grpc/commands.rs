//! Streams whose messages are commands: each belongs to whoever sent it, several are worked on at once, and answers go out while
//! more commands come in.

use tokio::sync::mpsc::{self, UnboundedSender};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::Streaming;
use tracecast::testing::FinishedSpan;
use tracecast::{Carrier, Kind, Outcome, OwnedValue, Span};

use crate::support::grpc::{COMMANDS, SPAWNED, World};
use crate::support::{BOTH, alone, of_kind, record, spans_of};

async fn session(world: &mut World) -> (UnboundedSender<String>, Streaming<String>) {
    let (send, receive) = mpsc::unbounded_channel();
    let answers = world.bidi_to(COMMANDS, UnboundedReceiverStream::new(receive)).await.unwrap();
    (send, answers)
}

/// The spans of this name, the earliest first.
fn named<'a>(spans: &'a [FinishedSpan], name: &str) -> Vec<&'a FinishedSpan> {
    let mut named: Vec<_> = spans.iter().filter(|span| span.name == name).collect();
    named.sort_by_key(|span| span.start_time());
    named
}

#[test]
fn several_commands_are_in_progress_at_once_and_answered_as_they_end() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        let (send, mut answers) = session(&mut world).await;
        for command in ["hold", "release"] {
            send.send(command.to_owned()).unwrap();
        }
        assert_eq!(answers.next().await.unwrap().unwrap(), "release");
        assert_eq!(answers.next().await.unwrap().unwrap(), "hold");
        // The stream is still open for commands.
        send.send("fail 5".to_owned()).unwrap();
        assert_eq!(answers.next().await.unwrap().unwrap_err().code(), tonic::Code::NotFound);
        drop(send);

        let spans = spans_of(&recording, &BOTH).await;
        let server = of_kind(&spans, Kind::Server);
        let messages = named(&spans, "Session/Command");
        let [hold, release, failed] = messages[..] else { panic!("{spans:#?}") };
        assert!(messages.iter().all(|span| span.parent_span_id == Some(server.span_id)), "{spans:#?}");
        assert!(hold.start_time() <= release.start_time() && release.end_time() <= hold.end_time(), "{messages:#?}");
        assert_eq!([hold, release, failed].map(|span| span.outcome), [Outcome::Ok, Outcome::Ok, Outcome::Error]);
        // What a command does is below its message.
        let mut below: Vec<_> = named(&spans, "Session/Run").iter().map(|span| span.parent_span_id.unwrap()).collect();
        let mut expected: Vec<_> = messages.iter().map(|span| span.span_id).collect();
        below.sort();
        expected.sort();
        assert_eq!(below, expected, "{spans:#?}");
    });
}

#[test]
fn a_command_is_below_whoever_sent_it_and_linked_to_the_stream() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        let (send, mut answers) = session(&mut world).await;
        let mut asking = Span::builder("Dashboard/Ask", Kind::Internal).start();
        let traceparent = asking.in_scope(Carrier::inject).traceparent.unwrap();
        // The second is of no sender that could be understood, the last two are over the limit.
        for command in [&*traceparent, "nobody", "00", &*traceparent, "nobody"] {
            send.send(format!("{command}|command")).unwrap();
            answers.next().await.unwrap().unwrap();
        }
        let asked = asking.context();
        asking.end();
        drop(send);
        assert!(answers.next().await.is_none());

        let spans = spans_of(&recording, &BOTH).await;
        let server = of_kind(&spans, Kind::Server);
        let messages = named(&spans, "Session/Command");
        let [first, second, third] = messages[..] else { panic!("{spans:#?}") };
        assert_eq!((first.trace_id, first.parent_span_id), (asked.trace_id(), Some(asked.span_id())));
        assert_eq!(first.links.iter().map(|link| link.span_id).collect::<Vec<_>>(), [server.span_id]);
        for other in [second, third] {
            assert_eq!((other.parent_span_id, other.links.len()), (Some(server.span_id), 0), "{other:#?}");
        }
        let below: Vec<_> = named(&spans, "Session/Run").iter().map(|span| span.parent_span_id.unwrap()).collect();
        assert_eq!(below, [first.span_id, second.span_id, third.span_id, asked.span_id(), server.span_id]);
        assert_eq!(server.attribute("tc.rpc.messages_without_span"), Some(&OwnedValue::U64(2)));
    });
}

#[test]
fn a_task_that_reads_the_stream_makes_no_roots() {
    alone(async || {
        let (recording, mut world) = (record(), World::new().await);
        assert_eq!(world.client_stream_to(SPAWNED, &["a", "b", "c"]).await.unwrap(), "done");
        let spans = spans_of(&recording, &BOTH).await;
        let server = of_kind(&spans, Kind::Server);
        let messages = named(&spans, "Session/Command");
        assert_eq!(messages.iter().map(|span| span.parent_span_id).collect::<Vec<_>>(), [Some(server.span_id)]);
        let below: Vec<_> = named(&spans, "Session/Run").iter().map(|span| span.parent_span_id).collect();
        assert_eq!(below, [Some(messages[0].span_id), Some(server.span_id), Some(server.span_id)]);
    });
}
