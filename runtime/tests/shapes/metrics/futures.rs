//! `#[tc_metric]` on futures: they are measured from the first poll to the end, the drop or the panic.

use std::any::Any;
use std::fmt::Display;
use std::future::{Future, pending, ready};
use std::io;
use std::pin::Pin;
use std::rc::Rc;

use futures::executor::block_on;
use futures::future::{BoxFuture, FutureExt as _, LocalBoxFuture};
use tracecast::prelude::*;
use tracecast::testing::{PointValue, capture_async};

use crate::metered::{
    Broken, CANCELLED, ERROR, GONE, NOTHING, OK, PANICKED, StoreError, TYPED_CANCELLED, TYPED_OK, TYPED_PANICKED,
    cancel, panics,
};
use crate::support::{Noisy, note, noted, send};

#[test]
fn of_async_functions() {
    shape! {
        [async fn f(count: &mut u8) { ready(()).await; *count += 1; }]
        { let mut count = 0; block_on(f(&mut count)); count } => 1, OK;
        { let mut count = 0; drop(f(&mut count)); count } => 0, NOTHING;
    }
    shape! { [async fn f() -> ! { panic!("on purpose") }] panics(|| block_on(async { f().await })) => true, PANICKED; }
    shape! { [async fn f() -> ! { pending().await }] cancel(f()) => (), CANCELLED; }
    shape! { [async fn f() -> Vec<u8> { unimplemented!("on purpose") }] panics(|| block_on(f())) => true, PANICKED; }
    shape! { [async fn f() -> String { "a".into() }] block_on(f()) => "a", OK; }
    shape! { [async fn f() -> Vec<u8> { (0..3).collect() }] block_on(f()) => [0, 1, 2], OK; }
    shape! { [async fn f() -> (u8, String) { Default::default() }] block_on(f()) => (0, String::new()), OK; }
    shape! {
        [async fn f(mut a: &str) -> usize { let local = a.to_owned() + "b"; a = &local; a.len() }]
        block_on(f("a")) => 2, OK;
    }
}

#[test]
fn of_async_functions_that_fail() {
    shape! {
        [async fn f(x: u8) -> Result<u8, StoreError> {
            match x {
                0 => Err(StoreError::Gone),
                1 => Err(StoreError::Timeout(ready(1).await))?,
                2 => pending().await,
                3 => panic!("on purpose"),
                x => Ok(x),
            }
        }]
        block_on(f(4)) => Ok(4), TYPED_OK;
        block_on(f(0)) => Err(StoreError::Gone), GONE;
        block_on(f(1)) => Err(StoreError::Timeout(1)), "outcome=error, error.type=Timeout";
        cancel(f(2)) => (), TYPED_CANCELLED;
        panics(|| block_on(f(3))) => true, TYPED_PANICKED;
        drop(f(4)) => (), NOTHING;
    }
    shape! { [async fn f() -> Result<u8, Broken> { Err(Broken) }] block_on(f()) => Err(Broken), ERROR; }
    shape! { [async fn f() -> io::Result<u8> { Err(io::Error::other("gone")) }] block_on(f()).is_err() => true, ERROR; }
    shape! {
        no_err [async fn f() -> Result<u8, StoreError> { Err(StoreError::Gone) }]
        block_on(f()).is_err() => true, OK;
    }
    shape! {
        [async fn f(text: &str) -> Result<u8, Box<dyn std::error::Error>> {
            let number: u8 = text.parse()?;
            Ok(number)
        }]
        block_on(f("7")).ok() => Some(7), OK;
        block_on(f("x")).ok() => None, ERROR;
    }
}

#[test]
fn of_async_functions_that_return_objects_opaque_types_and_borrows() {
    shape! {
        [async fn f(text: bool) -> Box<dyn Any> {
            if text {
                return Box::new("a");
            }
            Box::new(1_u8)
        }]
        block_on(f(true)).is::<&str>() => true, OK;
        block_on(f(false)).is::<u8>() => true, OK;
    }
    shape! {
        [async fn f() -> Result<Box<dyn FnOnce() -> u8>, StoreError> { Ok(Box::new(|| 3)) }]
        block_on(f()).map(|f| f()) => Ok(3), TYPED_OK;
    }
    shape! { [async fn f(x: &str) -> impl Display { x }] block_on(f("x")).to_string() => "x", OK; }
    shape! {
        [async fn f(v: &[u8]) -> Result<impl Iterator<Item = u8>, StoreError> {
            if v.is_empty() {
                return Err(StoreError::Gone);
            }
            Ok(v.iter().copied())
        }]
        block_on(f(&[1])).map(Iterator::count) => Ok(1), TYPED_OK;
        block_on(f(&[])).map(Iterator::count) => Err(StoreError::Gone), GONE;
    }
    shape! {
        [async fn f<'a>(v: &'a mut [u8], _other: &str) -> Option<&'a mut u8> { v.first_mut() }]
        block_on(f(&mut [8], "")).map(|first| *first) => Some(8), OK;
    }
    shape! {
        [async fn f<T: Clone, const N: usize>(t: T, (a, _): (u8, u8), text: impl Into<String>) -> ([T; N], String) {
            (std::array::from_fn(|_| t.clone()), format!("{a}{}", text.into()))
        }]
        block_on(f::<u8, 2>(1, (2, 3), "x")) => ([1, 1], "2x".to_owned()), OK;
    }
    shape! {
        [async unsafe fn f(p: *const u8) -> u8 {
            ready(()).await;
            // SAFETY: the callers give a pointer to a number.
            unsafe { *p }
        }]
        // SAFETY: it is one, and static.
        block_on(unsafe { f(&1) }) => 1, OK;
    }
    shape! {
        [async fn f(__span: u8, future: u8, labels: u8) -> u8 { ready(__span + future + labels).await }]
        { async fn call(f: impl AsyncFn(u8, u8, u8) -> u8) -> u8 { f(1, 2, 3).await } block_on(call(f)) } => 6, OK;
    }
    shape! { [#[must_use] async fn f(x: u8) -> u8 { x }] block_on(f(1)) => 1, OK; }
    shape! { [async fn f(x: Rc<u8>) -> u8 { ready(()).await; *x }] block_on(f(Rc::new(1))) => 1, OK; }
    shape! { [async fn f(x: String) -> usize { ready(()).await; x.len() }] block_on(send(f("a".into()))) => 1, OK; }
}

#[test]
fn of_boxed_futures() {
    shape! {
        [fn f(x: u8) -> Pin<Box<dyn Future<Output = Result<u8, StoreError>> + Send>> {
            note("call");
            let y = x + 1;
            Box::pin(async move { note("poll"); if y == 1 { Err(StoreError::Gone) } else { Ok(y) } })
        }]
        { let future = send(f(1)); note("made"); (block_on(future), noted()) }
            => (Ok(2), vec!["call", "made", "poll"]), TYPED_OK;
        (block_on(f(0)), noted()) => (Err(StoreError::Gone), vec!["call", "poll"]), GONE;
        { drop(f(0)); noted() } => ["call"], TYPED_CANCELLED;
    }
    shape! {
        [fn f(x: u8) -> BoxFuture<'static, Result<u8, StoreError>> {
            if x == 0 {
                return Box::pin(async { Err(StoreError::Gone) });
            }
            std::boxed::Box::pin(async move { if x == 1 { pending().await } else { Ok(x) } })
        }]
        block_on(f(2)) => Ok(2), TYPED_OK;
        block_on(f(0)) => Err(StoreError::Gone), GONE;
        cancel(f(1)) => (), TYPED_CANCELLED;
    }
    shape! { [fn f(x: &u8) -> BoxFuture<'_, u8> { async move { *x }.boxed() }] block_on(f(&1)) => 1, OK; }
    shape! {
        [fn f(x: Rc<u8>) -> LocalBoxFuture<'static, u8> { async move { *x }.boxed_local() }]
        block_on(f(Rc::new(1))) => 1, OK;
    }
    shape! {
        [fn f(x: u8) -> Pin<Box<dyn Future<Output = u8>>> {
            Box::pin(async move { x }) as Pin<Box<dyn Future<Output = u8>>>
        }]
        block_on(f(1)) => 1, OK;
    }
    shape! {
        future [fn f() -> BoxFuture<'static, Result<u8, StoreError>> { Box::pin(ready(Err(StoreError::Gone))) }]
        block_on(f()) => Err(StoreError::Gone), GONE;
        drop(f()) => (), TYPED_CANCELLED;
    }
    // Nothing of this one has run before it is polled.
    shape! { [fn f() -> BoxFuture<'static, u8> { Box::pin(async { 1 }) }] drop(f()) => (), NOTHING; }
    shape! {
        [fn f() -> BoxFuture<'static, u8> { if true { panic!("on purpose") } Box::pin(async { 1 }) }]
        panics(f) => true, PANICKED;
    }
    shape! {
        future [fn f() -> BoxFuture<'static, u8> { if true { panic!("on purpose") } ready(1).boxed() }]
        panics(f) => true, PANICKED;
    }
    shape! {
        [fn f() -> BoxFuture<'static, u8> { Box::pin(async { panic!("on purpose") }) }]
        panics(|| block_on(f())) => true, PANICKED;
    }
}

#[test]
fn of_opaque_futures() {
    shape! {
        [fn f(x: &u8) -> impl Future<Output = Result<u8, StoreError>> + use<'_> {
            note("call");
            async move { if *x == 0 { Err(StoreError::Gone) } else { Ok(*x) } }
        }]
        (block_on(f(&1)), noted()) => (Ok(1), vec!["call"]), TYPED_OK;
        (block_on(f(&0)), noted()) => (Err(StoreError::Gone), vec!["call"]), GONE;
        { drop(f(&0)); noted() } => ["call"], TYPED_CANCELLED;
    }
    shape! {
        [fn f(x: u8) -> impl Future<Output = io::Result<u8>> + Send { let y = x + 1; async move { Ok(y) } }]
        block_on(send(f(1))).ok() => Some(2), OK;
    }
    shape! {
        future [fn f(x: u8) -> impl Future<Output = Result<u8, Broken>> {
            ready(if x == 0 { Err(Broken) } else { Ok(x) })
        }]
        block_on(f(1)) => Ok(1), OK;
        block_on(f(0)) => Err(Broken), ERROR;
    }
    shape! { future [fn f() -> impl Future<Output = u8> { pending() }] cancel(f()) => (), CANCELLED; }
    // The call is measured, whatever becomes of the future.
    shape! { construct [fn f() -> impl Future<Output = Result<u8, StoreError>> { pending() }] drop(f()) => (), OK; }
}

#[test]
fn a_tower_service() {
    trait Service<Request> {
        type Response;
        type Future: Future<Output = Self::Response>;
        fn call(&mut self, request: Request) -> Self::Future;
    }

    struct Echo(u8);

    impl Service<u8> for Echo {
        type Response = Result<u8, StoreError>;
        type Future = BoxFuture<'static, Result<u8, StoreError>>;

        #[tc_metric(future, error_type = StoreError, calls = "tc_f_total", errors = "tc_f_errors_total",
                    duration = "tc_f_seconds", in_flight = "tc_f_active")]
        fn call(&mut self, request: u8) -> Self::Future {
            self.0 += 1;
            Box::pin(async move { if request == 0 { Err(StoreError::Gone) } else { Ok(request) } })
        }
    }

    let mut echo = Echo(0);
    crate::metered::check(|| block_on(echo.call(2)), Ok(2), TYPED_OK, false);
    crate::metered::check(|| block_on(echo.call(0)), Err(StoreError::Gone), GONE, false);
    crate::metered::check(|| drop(echo.call(0)), (), TYPED_CANCELLED, false);
    assert_eq!(echo.0, 3);
}

#[test]
fn whose_arguments_and_locals_drop_in_order() {
    shape! {
        [async fn f(_: Noisy, _g: Noisy, moved: Noisy, (d, _): (Noisy, Noisy)) -> usize {
            let _local = Noisy("local");
            drop(moved);
            ready(()).await;
            note("body");
            Noisy("temporary").0.len() + d.0.len()
        }]
        { block_on(f(Noisy("_"), Noisy("_g"), Noisy("moved"), (Noisy("d"), Noisy("d2")))); noted() }
            => ["moved", "body", "temporary", "local", "d", "d2", "_g", "_"], OK;
        { drop(f(Noisy("_"), Noisy("_g"), Noisy("moved"), (Noisy("d"), Noisy("d2")))); noted() }
            => plain_drops(), NOTHING;
    }
}

/// How the arguments of a future drop that nobody polls.
fn plain_drops() -> Vec<&'static str> {
    async fn f(_: Noisy, _g: Noisy, moved: Noisy, (d, _): (Noisy, Noisy)) {
        ready((moved, d)).await;
    }
    drop(f(Noisy("_"), Noisy("_g"), Noisy("moved"), (Noisy("d"), Noisy("d2"))));
    noted()
}

#[tokio::test]
async fn that_call_themselves_and_run_elsewhere() {
    #[tc_metric(calls = "tc_countdowns_total", in_flight = "tc_countdowns_active")]
    async fn countdown(n: u8) -> u8 {
        tokio::task::yield_now().await;
        if n == 0 { 0 } else { Box::pin(countdown(n - 1)).await + 1 }
    }

    let captured = capture_async(|| async {
        let spawned = tokio::spawn(countdown(1));
        countdown(2).await + spawned.await.unwrap()
    });
    let captured = captured.await;
    assert_eq!(captured.value, 3);
    assert_eq!(captured.metric("tc_countdowns_active", &[]), Some(&PointValue::I64(0)));
    assert_eq!(captured.metric("tc_countdowns_total", &[("outcome", "ok")]), Some(&PointValue::U64(4)));
}
