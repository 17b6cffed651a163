//! Functions that return a stream: one span, from the first poll to the end of the stream or its drop.

use std::future::ready;
use std::io;
use std::pin::Pin;

use futures::channel::mpsc;
use futures::executor::block_on;
use futures::stream::{self, BoxStream, LocalBoxStream, Stream, StreamExt as _};
use tracecast::keys;
use tracecast::tc_scope;
use tracecast::tc_span;
use tracecast::testing::capture;

use crate::support::{check_async, note, noted, within};

#[test]
fn of_a_stream_macro() {
    #[tc_span("Stream/Macro", attrs(keys::size_bytes = n))]
    fn numbers(n: u8) -> impl Stream<Item = u8> {
        async_stream::stream! {
            for i in 0..n {
                yield i;
            }
        }
    }

    #[tc_span("Stream/Boxed")]
    fn boxed(n: u8) -> Pin<Box<dyn Stream<Item = u8> + Send>> {
        note("call");
        Box::pin(async_stream::stream! { yield n; })
    }

    check_async(|| numbers(2).collect::<Vec<_>>(), vec![0, 1], "Stream/Macro tc.size.bytes=2");
    check_async(|| boxed(3).collect::<Vec<_>>(), vec![3], "Stream/Boxed");
    assert_eq!(noted(), ["call"]);
}

#[test]
fn of_a_call() {
    #[tc_span("Stream/Call", stream)]
    fn call() -> impl Stream<Item = u8> {
        stream::iter([1, 2])
    }

    #[tc_span("Stream/BoxedCall", stream)]
    fn boxed(v: &[u8]) -> BoxStream<'_, u8> {
        stream::iter(v.iter().copied()).boxed()
    }

    #[tc_span("Stream/LocalCall", stream)]
    fn local(v: &[u8]) -> LocalBoxStream<'_, u8> {
        stream::iter(v.iter().copied()).boxed_local()
    }

    check_async(|| call().collect::<Vec<_>>(), vec![1, 2], "Stream/Call");
    check_async(|| boxed(&[1]).collect::<Vec<_>>(), vec![1], "Stream/BoxedCall");
    check_async(|| local(&[1]).collect::<Vec<_>>(), vec![1], "Stream/LocalCall");
}

#[test]
fn of_an_async_function() {
    #[tc_span("Stream/Async", stream)]
    async fn asynchronous(n: u8) -> impl Stream<Item = u8> {
        drop(tc_scope!("Stream/Preparing"));
        ready(()).await;
        stream::iter(0..n).inspect(|_| drop(tc_scope!("Stream/Item")))
    }

    #[tc_span("Stream/AsyncConstruct", construct)]
    async fn construct(n: u8) -> impl Stream<Item = u8> {
        stream::iter(0..n).inspect(|_| drop(tc_scope!("Stream/Item")))
    }

    let tree = "
        Stream/Async
          Stream/Preparing
          Stream/Item
    ";
    check_async(|| async { asynchronous(1).await.collect::<Vec<_>>().await }, vec![0], tree);
    let tree = "
        Stream/AsyncConstruct
        Stream/Item
    ";
    check_async(|| async { construct(1).await.collect::<Vec<_>>().await }, vec![0], tree);
}

#[test]
fn with_an_error_among_its_items() {
    #[tc_span("Stream/Try")]
    fn fails() -> impl Stream<Item = Result<u8, io::Error>> {
        async_stream::try_stream! {
            yield 1;
            Err(io::Error::other("gone"))?;
        }
    }

    #[tc_span("Stream/TryCall", stream, no_err)]
    fn unreported() -> impl Stream<Item = Result<u8, io::Error>> {
        stream::iter([Err(io::Error::other("gone"))])
    }

    let error = "Stream/Try error error.type=io::Other error.message=gone";
    check_async(|| fails().count(), 2, error);
    check_async(|| unreported().count(), 1, "Stream/TryCall");
}

#[test]
fn dropped_before_its_end() {
    #[tc_span("Stream/Endless", stream)]
    fn endless() -> impl Stream<Item = u8> {
        stream::repeat(1)
    }

    check_async(|| endless().take(3).count(), 3, "Stream/Endless cancelled");
    check_async(|| async { drop(endless()) }, (), "Stream/Endless cancelled");
}

#[test]
fn covers_the_stream_from_the_call_to_its_end() {
    #[tc_span("Stream/Gated", stream)]
    fn gated(items: mpsc::UnboundedReceiver<u8>) -> impl Stream<Item = u8> {
        items
    }

    let captured = capture(|| {
        let (sender, receiver) = mpsc::unbounded();
        let mut stream = Box::pin(gated(receiver));
        drop(tc_scope!("Other/BeforeFirstPoll"));
        block_on(async {
            assert!(futures::poll!(stream.next()).is_pending());
            drop(tc_scope!("Other/Meanwhile"));
            sender.unbounded_send(1).unwrap();
            assert_eq!(stream.next().await, Some(1));
            drop(tc_scope!("Other/BetweenItems"));
            drop(sender);
            assert_eq!(stream.next().await, None);
        });
        drop(tc_scope!("Other/AfterItsEnd"));
    });
    captured.assert_outline(
        "
        Stream/Gated
        Other/BeforeFirstPoll
        Other/Meanwhile
        Other/BetweenItems
        Other/AfterItsEnd
        ",
    );
    let stream = captured.span("Stream/Gated");
    assert!(within(captured.span("Other/BeforeFirstPoll"), stream), "its clock starts at the call, with the body");
    assert!(within(captured.span("Other/Meanwhile"), stream));
    assert!(within(captured.span("Other/BetweenItems"), stream));
    assert!(stream.end_time() <= captured.span("Other/AfterItsEnd").start_time());
}

#[test]
fn size_hints_pass_through() {
    #[tc_span("Stream/Hint", stream)]
    fn hinted() -> impl Stream<Item = u8> {
        stream::iter([1, 2, 3])
    }

    assert_eq!(hinted().size_hint(), (3, Some(3)));
}
