//! `#[tc_metric]` on streams: a call from the first poll to the end or the drop, and the items on the way.

use std::fmt::Debug;
use std::future::{pending, ready};
use std::io;
use std::pin::Pin;
use std::time::Duration;

use futures::executor::block_on;
use futures::stream::{self, BoxStream, LocalBoxStream, Stream, StreamExt as _};
use tracecast::keys::tensor::{SourceType, source};
use tracecast::prelude::*;
use tracecast::testing::{PointValue, capture};

use crate::metered::{
    Broken, CANCELLED, ERROR, GONE, NOTHING, OK, PANICKED, StoreError, TYPED_CANCELLED, TYPED_OK, TYPED_PANICKED,
    cancel, metrics_of, panics,
};
use crate::support::{Noisy, note, noted, send};

/// As `shape!`, for streams: behind the ending stands how many items came.
macro_rules! stream {
    ($($option:ident),* [$($function:tt)*] $($call:expr => $value:expr, $ending:expr, $items:expr;)+) => {{
        {
            $($function)*
            $(assert_eq!($call, $value);)+
        }
        {
            #[tc_metric(calls = "tc_f_total", errors = "tc_f_errors_total", duration = "tc_f_seconds",
                        in_flight = "tc_f_active", first_item = "tc_f_first_seconds", per_item = "tc_f_next_seconds",
                        items = "tc_f_items_total" $(, $option)*)]
            $($function)*
            $(check(|| $call, $value, $ending, $items, false);)+
        }
        {
            #[tc_span("Shape/Ours" $(, $option)*)]
            #[tc_metric(calls = "tc_f_total", errors = "tc_f_errors_total", duration = "tc_f_seconds",
                        in_flight = "tc_f_active", first_item = "tc_f_first_seconds", per_item = "tc_f_next_seconds",
                        items = "tc_f_items_total")]
            $($function)*
            $(check(|| $call, $value, $ending, $items, true);)+
        }
        {
            #[tc_metric(calls = "tc_f_total", errors = "tc_f_errors_total", duration = "tc_f_seconds",
                        in_flight = "tc_f_active", first_item = "tc_f_first_seconds", per_item = "tc_f_next_seconds",
                        items = "tc_f_items_total" $(, $option)*)]
            #[tc_span("Shape/Ours")]
            $($function)*
            $(check(|| $call, $value, $ending, $items, true);)+
        }
    }};
}

#[track_caller]
fn check<R, V>(f: impl FnOnce() -> R, value: V, ending: &str, items: u64, has_span: bool)
where
    R: PartialEq<V> + Debug,
    V: Debug,
{
    let mut lines: Vec<_> = metrics_of("tc_f", ending).lines().map(str::to_owned).collect();
    if items > 0 {
        lines.extend(["tc_f_first_seconds count=1".to_owned(), format!("tc_f_items_total {items}")]);
    }
    if items > 1 {
        lines.push(format!("tc_f_next_seconds count={}", items - 1));
    }
    lines.sort_by_key(|line| line.split(['{', ' ']).next().map(str::to_owned));
    let captured = capture(f);
    captured.assert_metrics(&lines.join("\n"));
    captured.assert_outline(if has_span { crate::metered::span_of(ending) } else { "" });
    assert_eq!(captured.value, value);
}

fn all<T>(stream: impl Stream<Item = T>) -> Vec<T> {
    block_on(stream.collect())
}

#[test]
fn of_a_stream_macro() {
    stream! {
        [fn f(n: u8) -> impl Stream<Item = u8> {
            note("call");
            async_stream::stream! {
                for i in 0..n {
                    yield i;
                }
            }
        }]
        (all(f(3)), noted()) => (vec![0, 1, 2], vec!["call"]), OK, 3;
        (all(f(1)), noted()) => (vec![0], vec!["call"]), OK, 1;
        (all(f(0)), noted()) => (vec![], vec!["call"]), OK, 0;
        { drop(f(1)); noted() } => ["call"], CANCELLED, 0;
    }
    stream! {
        [fn f(n: u8) -> impl Stream<Item = u8> { async_stream::stream! { yield n; } }]
        drop(f(3)) => (), NOTHING, 0;
    }
    stream! {
        [fn f(n: u8) -> Pin<Box<dyn Stream<Item = u8> + Send>> { Box::pin(async_stream::stream! { yield n; }) }]
        all(send(f(3))) => [3], OK, 1;
    }
    stream! {
        [fn f(ok: bool) -> impl Stream<Item = Result<u8, StoreError>> {
            async_stream::try_stream! {
                yield 1;
                if !ok {
                    Err(StoreError::Gone)?;
                }
            }
        }]
        all(f(true)) => [Ok(1)], TYPED_OK, 1;
        all(f(false)) => [Ok(1), Err(StoreError::Gone)], GONE, 2;
    }
}

#[test]
fn of_a_call() {
    stream! {
        stream [fn f() -> impl Stream<Item = u8> { stream::iter([1, 2]) }]
        all(f()) => [1, 2], OK, 2;
        f().size_hint() => (2, Some(2)), CANCELLED, 0;
        { let mut ended = Box::pin(f()); block_on(async { while ended.next().await.is_some() {} ended.next().await }) }
            => None, OK, 2;
    }
    stream! {
        stream [fn f(v: &[u8]) -> BoxStream<'_, u8> { stream::iter(v.iter().copied()).boxed() }]
        all(f(&[1])) => [1], OK, 1;
        drop(f(&[1])) => (), CANCELLED, 0;
    }
    stream! {
        stream [fn f(v: &[u8]) -> LocalBoxStream<'_, u8> { stream::iter(v.iter().copied()).boxed_local() }]
        all(f(&[1, 2, 3, 4])) => [1, 2, 3, 4], OK, 4;
    }
    shape! { construct [fn f() -> impl Stream<Item = u8> { stream::iter([1, 2]) }] all(f()) => [1, 2], OK; }
}

#[test]
fn of_an_async_function() {
    stream! {
        stream [async fn f(n: u8) -> impl Stream<Item = u8> { ready(()).await; stream::iter(0..n) }]
        all(block_on(f(2))) => [0, 1], OK, 2;
        drop(f(2)) => (), NOTHING, 0;
        drop(block_on(f(2))) => (), CANCELLED, 0;
    }
    stream! {
        stream [async fn f() -> impl Stream<Item = u8> { pending::<()>().await; stream::empty() }]
        cancel(f()) => (), CANCELLED, 0;
    }
    stream! {
        stream [async fn f() -> impl Stream<Item = u8> { if true { panic!("on purpose") } stream::empty() }]
        panics(|| block_on(f())) => true, PANICKED, 0;
    }
    stream! {
        stream [async fn f(v: &[u8]) -> impl Stream<Item = Result<u8, StoreError>> {
            stream::iter(v).map(|x| if *x == 0 { Err(StoreError::Gone) } else { Ok(*x) })
        }]
        all(block_on(f(&[1, 2]))) => [Ok(1), Ok(2)], TYPED_OK, 2;
        all(block_on(f(&[1, 0]))) => [Ok(1), Err(StoreError::Gone)], GONE, 2;
    }
    shape! {
        construct [async fn f(n: u8) -> impl Stream<Item = u8> { stream::iter(0..n) }]
        all(block_on(f(2))) => [0, 1], OK;
    }
}

#[test]
fn that_fail() {
    stream! {
        stream [fn f(items: Vec<Result<u8, StoreError>>) -> BoxStream<'static, Result<u8, StoreError>> {
            stream::iter(items).boxed()
        }]
        all(f(vec![Ok(1)])) => [Ok(1)], TYPED_OK, 1;
        all(f(vec![Err(StoreError::Gone), Ok(1)])).len() => 2, GONE, 2;
        all(f(vec![Err(StoreError::Timeout(1))])).len() => 1, "outcome=error, error.type=Timeout", 1;
        block_on(f(vec![Ok(1), Ok(2)]).next()) => Some(Ok(1)), TYPED_CANCELLED, 1;
    }
    stream! {
        stream [fn f() -> impl Stream<Item = Result<u8, Broken>> { stream::iter([Err(Broken)]) }]
        all(f()) => [Err(Broken)], ERROR, 1;
    }
    stream! {
        stream [fn f() -> impl Stream<Item = io::Result<u8>> { stream::iter([Ok(1), Err(io::Error::other("gone"))]) }]
        all(f()).len() => 2, ERROR, 2;
    }
    stream! {
        stream, no_err [fn f() -> impl Stream<Item = Result<u8, StoreError>> { stream::iter([Err(StoreError::Gone)]) }]
        all(f()) => [Err(StoreError::Gone)], OK, 1;
    }
}

#[test]
fn that_are_dropped_or_panic() {
    stream! {
        stream [fn f() -> impl Stream<Item = u8> { stream::repeat(1) }]
        all(f().take(3)) => [1, 1, 1], CANCELLED, 3;
    }
    stream! {
        stream [fn f() -> impl Stream<Item = u8> { stream::pending() }]
        cancel(f().collect::<Vec<_>>()) => (), CANCELLED, 0;
    }
    stream! {
        stream [fn f() -> impl Stream<Item = Result<u8, StoreError>> {
            stream::iter([1, 0]).map(|x: u8| if x == 0 { panic!("on purpose") } else { Ok(x) })
        }]
        panics(|| all(f())) => true, TYPED_PANICKED, 1;
    }
    stream! {
        stream [fn f(argument: Noisy) -> impl Stream<Item = usize> {
            let _local = Noisy("local");
            stream::iter([1]).map(move |x| x + argument.0.len())
        }]
        (all(f(Noisy("argument"))), noted()) => (vec![9], vec!["local", "argument"]), OK, 1;
    }
}

/// Counts how often it gives a label.
fn from(evaluated: &std::cell::Cell<u8>) -> SourceType {
    evaluated.set(evaluated.get() + 1);
    SourceType::Disk
}

#[tc_metric(stream, calls = "tc_labelled_total", items = "tc_labelled_items_total", first_item = "tc_first_seconds",
            per_item = "tc_next_seconds", in_flight = "tc_labelled_active", labels(source = from(evaluated)))]
fn labelled(evaluated: &std::cell::Cell<u8>) -> impl Stream<Item = u8> + use<> {
    stream::iter([1, 2, 3])
}

#[test]
fn with_labels_on_all_of_their_metrics() {
    let evaluated = std::cell::Cell::new(0);
    assert_eq!((all(labelled(&evaluated)), evaluated.get()), (vec![1, 2, 3], 0), "off");
    let captured = capture(|| all(labelled(&evaluated)));
    assert_eq!((captured.value.len(), evaluated.get()), (3, 1));
    captured.assert_metrics(
        "
        tc_first_seconds{tc.source.type=disk} count=1
        tc_labelled_active{tc.source.type=disk} 0
        tc_labelled_items_total{tc.source.type=disk} 3
        tc_labelled_total{tc.source.type=disk, outcome=ok} 1
        tc_next_seconds{tc.source.type=disk} count=2
        ",
    );
}

#[test]
fn whose_items_take_their_time() {
    #[tc_metric(first_item = "tc_slow_first_seconds", per_item = "tc_slow_next_seconds", duration = "tc_slow_seconds")]
    fn slow() -> impl Stream<Item = u8> {
        async_stream::stream! {
            for milliseconds in [5, 2, 3] {
                std::thread::sleep(Duration::from_millis(milliseconds));
                yield 1;
            }
        }
    }

    let captured = capture(|| all(slow()).len());
    let times = |name: &str| match captured.metric(name, &[]) {
        Some(PointValue::Histogram(point)) => (point.count, point.min.unwrap(), point.max.unwrap(), point.sum),
        other => panic!("{other:?}"),
    };
    let ((one, first, ..), (two, least, most, between)) =
        (times("tc_slow_first_seconds"), times("tc_slow_next_seconds"));
    assert!(one == 1 && first >= 0.005, "{captured:?}");
    assert!(two == 2 && least >= 0.002 && most >= 0.003 && least <= most, "{captured:?}");
    let (count, .., whole) = times("tc_slow_seconds");
    assert!(count == 1 && whole >= first + between, "{captured:?}");
}
