//! Functions that return a future or stream which another function makes: the body runs inside of the span, so that whatever it
//! calls is a child. Also where the signature does not show that it is a future.

#![expect(clippy::redundant_async_block, reason = "as middleware often is")]

use std::future::{Future, ready};
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use futures::executor::block_on;
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{self, BoxStream, Stream, StreamExt as _};
use tracecast::keys;
use tracecast::prelude::*;
use tracecast::testing::capture;

use crate::support::{check_panic, send};

#[tc_span("Inner/Async")]
async fn inner() -> u8 {
    tokio::task::yield_now().await;
    sync_inner()
}

#[tc_span("Inner/Sync")]
fn sync_inner() -> u8 {
    1
}

/// As middleware is: three of them, around the function above.
#[tc_span("Outer/Opaque")]
fn opaque() -> impl Future<Output = u8> + Send {
    sync_inner();
    boxed()
}

#[tc_span("Middle/Boxed")]
fn boxed() -> BoxFuture<'static, u8> {
    sync_inner();
    let inner = called();
    Box::pin(async move { inner.await })
}

#[tc_span("Lower/Called", future)]
fn called() -> BoxFuture<'static, u8> {
    inner().boxed()
}

const NESTED: &str = "
    Outer/Opaque
      Inner/Sync
      Middle/Boxed
        Inner/Sync
        Lower/Called
          Inner/Async
            Inner/Sync
";

#[test]
fn whatever_the_body_calls_is_a_child() {
    let captured = capture(|| block_on(opaque()));
    captured.assert_tree(NESTED);
    assert_eq!(captured.value, 1);
}

#[test]
fn also_if_it_is_polled_on_other_threads() {
    // Each poll on a thread of its own.
    let captured = capture(|| {
        let mut future = Box::pin(send(opaque()));
        loop {
            let polled = std::thread::scope(|scope| {
                let poll = || future.as_mut().poll(&mut TaskContext::from_waker(futures::task::noop_waker_ref()));
                scope.spawn(poll).join().unwrap()
            });
            if let Poll::Ready(value) = polled {
                return value;
            }
        }
    });
    captured.assert_tree(NESTED);
    assert_eq!(captured.value, 1);
}

#[test]
fn dropped_before_the_first_poll_it_is_cancelled() {
    capture(|| drop(opaque())).assert_tree(
        "
        Outer/Opaque cancelled
          Inner/Sync
          Middle/Boxed cancelled
            Inner/Sync
            Lower/Called cancelled
        ",
    );
}

#[test]
fn a_panic_in_the_body_is_one_of_the_span() {
    #[tc_span("Outer/Panics", future)]
    fn panics() -> impl Future<Output = u8> {
        if sync_inner() == 1 {
            panic!("on purpose");
        }
        ready(1)
    }

    #[tc_span("Outer/Panics")]
    fn panics_boxed() -> BoxFuture<'static, u8> {
        if sync_inner() == 1 {
            panic!("on purpose");
        }
        Box::pin(async { 1 })
    }

    let tree = "
        Outer/Panics panicked
          Inner/Sync
    ";
    check_panic(panics, tree);
    check_panic(panics_boxed, tree);
    assert!(!tracecast::Context::current().is_valid(), "the span has left the stack");
}

#[test]
fn bodies_of_streams_too() {
    #[tc_span("Outer/Stream", stream)]
    fn opaque() -> impl Stream<Item = u8> {
        sync_inner();
        stream::once(inner())
    }

    #[tc_span("Outer/Stream")]
    fn boxed() -> BoxStream<'static, u8> {
        sync_inner();
        stream::once(inner()).boxed()
    }

    let tree = "
        Outer/Stream
          Inner/Sync
          Inner/Async
            Inner/Sync
    ";
    capture(|| block_on(opaque().count())).assert_tree(tree);
    capture(|| block_on(boxed().count())).assert_tree(tree);
}

#[test]
fn tower_middleware() {
    trait Service {
        type Future: Future<Output = u8>;
        fn call(&mut self) -> Self::Future;
    }

    struct Handler;

    impl Service for Handler {
        type Future = BoxFuture<'static, u8>;

        #[tc_span("Handler/Call")]
        fn call(&mut self) -> Self::Future {
            Box::pin(inner())
        }
    }

    struct Middleware<S>(S);

    impl<S: Service<Future: Send + 'static>> Service for Middleware<S> {
        type Future = BoxFuture<'static, u8>;

        #[tc_span("Middleware/Call")]
        fn call(&mut self) -> Self::Future {
            let handled = self.0.call();
            Box::pin(async move { handled.await })
        }
    }

    capture(|| block_on(Middleware(Middleware(Handler)).call())).assert_tree(
        "
        Middleware/Call
          Middleware/Call
            Handler/Call
              Inner/Async
                Inner/Sync
        ",
    );
}

type Answer<'a> = Pin<Box<dyn Future<Output = Result<u8, std::io::Error>> + Send + 'a>>;
type Items = Pin<Box<dyn Stream<Item = u8>>>;
type LoadResult = Answer<'static>;
type ItemsResult<T> = Pin<Box<dyn Stream<Item = T>>>;

#[test]
fn boxed_futures_behind_an_alias_are_covered() {
    #[tc_span("Alias/Load", attrs(keys::size_bytes = *id), result(keys::open_seconds = |bytes| f64::from(*bytes)))]
    fn load(id: &u8) -> Answer<'_> {
        sync_inner();
        let inner = inner();
        Box::pin(async move {
            inner.await;
            if *id == 0 { Err(std::io::Error::other("gone")) } else { Ok(*id) }
        })
    }

    #[tc_span("Alias/Items")]
    fn items() -> Items {
        Box::pin(stream::once(inner()))
    }

    let children = "\n  Inner/Sync\n  Inner/Async\n    Inner/Sync";
    let captured = capture(|| block_on(send(load(&3))).ok());
    captured.assert_tree(&format!("Alias/Load tc.size.bytes=3 tc.open.seconds=3{children}"));
    assert_eq!(captured.value, Some(3));
    let failed = "Alias/Load error tc.size.bytes=0 error.type=io::Other error.message=gone";
    capture(|| block_on(load(&0)).is_err()).assert_tree(&format!("{failed}{children}"));
    capture(|| drop(load(&3))).assert_tree("Alias/Load cancelled tc.size.bytes=3\n  Inner/Sync");
    capture(|| block_on(items().count())).assert_tree("Alias/Items\n  Inner/Async\n    Inner/Sync");
}

#[test]
fn an_alias_that_is_named_result_is_covered_too() {
    #[tc_span("Alias/Load")]
    fn load() -> LoadResult {
        Box::pin(async {
            inner().await;
            Err(std::io::Error::other("gone"))
        })
    }

    #[tc_span("Alias/Items", no_err)]
    fn items() -> ItemsResult<u8> {
        Box::pin(stream::once(inner()))
    }

    #[tc_metric(calls = "tc_alias_result_total")]
    fn measured() -> LoadResult {
        Box::pin(async { Err(std::io::Error::other("gone")) })
    }

    let children = "\n  Inner/Async\n    Inner/Sync";
    let failed = "Alias/Load error error.type=io::Other error.message=gone";
    capture(|| block_on(load()).is_err()).assert_tree(&format!("{failed}{children}"));
    capture(|| drop(load())).assert_tree("Alias/Load cancelled");
    capture(|| block_on(items().count())).assert_tree(&format!("Alias/Items{children}"));
    capture(|| block_on(measured()).is_err()).assert_metrics("tc_alias_result_total{outcome=error} 1");
}

#[test]
fn measured_ones_too() {
    #[tc_metric(calls = "tc_alias_total", duration = "tc_alias_seconds", in_flight = "tc_alias_active")]
    fn load() -> Answer<'static> {
        Box::pin(async { Err(std::io::Error::other("gone")) })
    }

    let captured = capture(|| {
        let future = load();
        assert!(block_on(future).is_err());
        drop(load());
    });
    captured.assert_metrics(
        "
        tc_alias_active 0
        tc_alias_seconds count=2
        tc_alias_total{outcome=error} 1
        tc_alias_total{outcome=cancelled} 1
        ",
    );
}

#[test]
fn types_that_only_look_like_futures_are_calls() {
    struct Plain(u8);

    #[tc_span("Plain/Make")]
    fn make() -> Plain {
        sync_inner();
        Plain(1)
    }

    #[tc_span("Plain/Spawn")]
    fn spawn() -> std::thread::JoinHandle<u8> {
        std::thread::spawn(|| 2)
    }

    #[tc_span("Plain/Spawn")]
    fn spawn_task() -> tokio::task::JoinHandle<u8> {
        tokio::spawn(ready(2))
    }

    let captured = capture(|| (make().0, spawn().join().unwrap()));
    captured.assert_tree("Plain/Make\n  Inner/Sync\nPlain/Spawn");
    assert_eq!(captured.value, (1, 2));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    capture(|| runtime.block_on(async { spawn_task().await.unwrap() })).assert_tree("Plain/Spawn");
}
