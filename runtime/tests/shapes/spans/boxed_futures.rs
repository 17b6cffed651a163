//! Functions that return a future: the span is the future's, not that of the call that makes it.

use std::future::{Future, ready};
use std::io;
use std::pin::Pin;
use std::rc::Rc;

use futures::channel::oneshot;
use futures::executor::block_on;
use futures::future::{BoxFuture, FutureExt as _, LocalBoxFuture};
use tracecast::keys;
use tracecast::prelude::*;
use tracecast::testing::capture;

use crate::support::{check, check_async, note, noted, send, within};

#[test]
fn boxed_async_block_at_the_tail() {
    #[tc_span("Boxed/Move", attrs(keys::tensor::artifact = id))]
    fn moved<'a>(id: &'a str) -> Pin<Box<dyn Future<Output = Result<usize, io::Error>> + Send + 'a>> {
        Box::pin(async move { Ok(id.len()) })
    }

    #[tc_span("Boxed/NoMove")]
    fn not_moved() -> Pin<Box<dyn Future<Output = Result<u8, io::Error>> + Send>> {
        std::boxed::Box::pin(async { Err(io::Error::other("gone")) })
    }

    #[tc_span("Boxed/Cast")]
    fn cast(x: u8) -> Pin<Box<dyn Future<Output = u8>>> {
        Box::pin(async move { x }) as Pin<Box<dyn Future<Output = u8>>>
    }

    check(|| block_on(send(moved("abc"))).ok(), Some(3), "Boxed/Move tc.artifact.id=abc");
    let error = "Boxed/NoMove error error.type=io::Other error.message=gone";
    check(|| block_on(not_moved()).is_err(), true, error);
    check_async(|| cast(1), 1, "Boxed/Cast");
}

#[test]
fn boxed_by_a_method() {
    #[tc_span("Boxed/Method")]
    fn boxed(x: u8) -> BoxFuture<'static, u8> {
        async move { x }.boxed()
    }

    #[tc_span("Boxed/LocalMethod")]
    fn local(x: Rc<u8>) -> LocalBoxFuture<'static, u8> {
        async move { *x }.boxed_local()
    }

    check_async(|| send(boxed(1)), 1, "Boxed/Method");
    check_async(|| local(Rc::new(1)), 1, "Boxed/LocalMethod");
}

#[test]
fn statements_before_the_block_run_at_the_call() {
    #[tc_span("Boxed/Statements")]
    fn statements(x: u8) -> BoxFuture<'static, u8> {
        note("call");
        let y = x + 1;
        Box::pin(async move {
            note("poll");
            y
        })
    }

    let captured = capture(|| {
        let future = statements(1);
        assert_eq!(noted(), ["call"]);
        let value = block_on(future);
        assert_eq!(noted(), ["poll"]);
        value
    });
    assert_eq!(captured.value, 2);
    captured.assert_tree("Boxed/Statements");
}

#[test]
fn an_early_return_is_covered_too() {
    #[tc_span("Boxed/Early")]
    fn early(x: u8) -> BoxFuture<'static, Result<u8, io::Error>> {
        if x == 0 {
            return Box::pin(async { Err(io::Error::other("zero")) });
        }
        Box::pin(async move { Ok(x) })
    }

    check(|| block_on(early(1)).ok(), Some(1), "Boxed/Early");
    let error = "Boxed/Early error error.type=io::Other error.message=zero";
    check(|| block_on(early(0)).ok(), None, error);
}

#[test]
fn opaque_futures() {
    #[tc_span("Opaque/Block")]
    fn block(x: &u8) -> impl Future<Output = Result<u8, io::Error>> + use<'_> {
        note("call");
        async move { Ok(*x) }
    }

    #[tc_span("Opaque/Inferred")]
    fn inferred() -> impl Future<Output = Result<(), io::Error>> + Send {
        async { Ok(()) }
    }

    #[tc_span("Opaque/Call", future)]
    fn call() -> impl Future<Output = u8> {
        ready(4)
    }

    #[tc_span("Opaque/CallThenMap", future, result(keys::size_bytes = |x| *x))]
    fn mapped() -> impl Future<Output = u8> {
        ready(4).map(|x| x + 1)
    }

    check(|| block_on(block(&1)).ok(), Some(1), "Opaque/Block");
    assert_eq!(noted(), ["call"]);
    check(|| block_on(send(inferred())).is_ok(), true, "Opaque/Inferred");
    check_async(call, 4, "Opaque/Call");
    check_async(mapped, 5, "Opaque/CallThenMap tc.size.bytes=5");
}

#[test]
fn a_boxed_future_of_somebody_else() {
    fn inner() -> BoxFuture<'static, Result<u8, io::Error>> {
        Box::pin(ready(Err(io::Error::other("gone"))))
    }

    #[tc_span("Boxed/Rewrapped", future)]
    fn rewrapped() -> BoxFuture<'static, Result<u8, io::Error>> {
        inner()
    }

    let error = "Boxed/Rewrapped error error.type=io::Other error.message=gone";
    check(|| block_on(rewrapped()).is_err(), true, error);
}

#[test]
fn a_tower_service() {
    trait Service<Request> {
        type Response;
        type Future: Future<Output = Self::Response>;
        fn call(&mut self, request: Request) -> Self::Future;
    }

    struct Echo {
        calls: u8,
    }

    impl Service<u8> for Echo {
        type Response = u8;
        type Future = BoxFuture<'static, u8>;

        #[tc_span("Service/Call", future, kind = server, attrs(keys::size_bytes = request))]
        fn call(&mut self, request: u8) -> Self::Future {
            self.calls += 1;
            Box::pin(async move { request })
        }
    }

    let mut service = Echo { calls: 0 };
    check_async(|| service.call(2), 2, "Service/Call [server] tc.size.bytes=2");
    assert_eq!(service.calls, 1);
}

#[tc_span("Child/Work")]
fn work() {}

/// Makes the future under test, lets something happen before its first poll and while it waits, and then lets it end. Its clock
/// starts at the first poll if it is `lazy`, else at the call.
fn covers_the_awaiting<F: Future>(lazy: bool, make: impl FnOnce(oneshot::Receiver<()>) -> F) {
    let captured = capture(|| {
        let (open, gate) = oneshot::channel();
        let mut future = Box::pin(make(gate));
        drop(tc_scope!("Other/BeforeFirstPoll"));
        block_on(async {
            assert!(futures::poll!(&mut future).is_pending());
            drop(tc_scope!("Other/Meanwhile"));
            open.send(()).unwrap();
            future.await
        });
        drop(tc_scope!("Other/After"));
    });
    let gated = "Future/Gated\n  Child/Work";
    let (first, second) = if lazy { ("Other/BeforeFirstPoll", gated) } else { (gated, "Other/BeforeFirstPoll") };
    captured.assert_outline(&format!("{first}\n{second}\nOther/Meanwhile\nOther/After"));
    let (future, before) = (captured.span("Future/Gated"), captured.span("Other/BeforeFirstPoll"));
    assert!(if lazy { before.end_time() <= future.start_time() } else { within(before, future) });
    assert!(within(captured.span("Other/Meanwhile"), future), "it goes on while the future waits");
    assert!(within(captured.span("Child/Work"), future));
    assert!(future.end_time() <= captured.span("Other/After").start_time(), "it ends with the future");
}

#[test]
fn every_form_covers_the_awaiting() {
    type Gate = oneshot::Receiver<()>;

    async fn wait(gate: Gate) {
        gate.await.unwrap();
        work();
    }

    #[tc_span("Future/Gated")]
    async fn asynchronous(gate: Gate) {
        wait(gate).await;
    }

    #[tc_span("Future/Gated")]
    fn boxed(gate: Gate) -> BoxFuture<'static, ()> {
        Box::pin(async move { wait(gate).await })
    }

    #[tc_span("Future/Gated")]
    fn opaque(gate: Gate) -> impl Future<Output = ()> {
        async move { wait(gate).await }
    }

    #[tc_span("Future/Gated", future)]
    fn called(gate: Gate) -> impl Future<Output = ()> {
        wait(gate)
    }

    #[tc_span("Future/Gated", future)]
    fn rewrapped(gate: Gate) -> BoxFuture<'static, ()> {
        wait(gate).boxed()
    }

    #[expect(clippy::redundant_async_block, reason = "as middleware often is")]
    #[tc_span("Future/Gated")]
    fn prepared(gate: Gate) -> BoxFuture<'static, ()> {
        let waiting = wait(gate);
        Box::pin(async move { waiting.await })
    }

    covers_the_awaiting(true, asynchronous);
    covers_the_awaiting(true, boxed);
    covers_the_awaiting(true, opaque);
    covers_the_awaiting(false, called);
    covers_the_awaiting(false, rewrapped);
    covers_the_awaiting(false, prepared);
}

#[test]
fn construct_covers_the_call_alone() {
    #[tc_span("Future/Construct", construct)]
    fn construct() -> impl Future<Output = ()> {
        work();
        async { work() }
    }

    let captured = capture(|| block_on(construct()));
    captured.assert_outline(
        "
        Future/Construct
          Child/Work
        Child/Work
        ",
    );
}
