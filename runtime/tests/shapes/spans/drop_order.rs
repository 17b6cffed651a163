//! Arguments and locals drop as they do without the attribute: each function has a twin without it.

use std::future::{Future, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::executor::block_on;
use tracecast::prelude::*;
use tracecast::testing::capture;

use crate::support::{Noisy, note, noted};

/// The same function twice: `plain::f`, and `ours::f` with a span.
macro_rules! twins {
    ($($function:tt)*) => {
        pub(crate) mod plain {
            #[allow(unused_imports, reason = "the twins need different names")]
            use super::*;
            pub(crate) $($function)*
        }
        pub(crate) mod ours {
            #[allow(unused_imports, reason = "the twins need different names")]
            use super::*;
            #[tc_span("Drop/Ours")]
            pub(crate) $($function)*
        }
    };
}

/// Compares what two calls note; the second one makes one span.
#[track_caller]
fn same<R>(plain: impl FnOnce() -> R, ours: impl FnOnce() -> R) {
    plain();
    let expected = noted();
    assert!(!expected.is_empty());
    let captured = capture(|| drop(ours()));
    assert_eq!(noted(), expected);
    captured.assert_outline("Drop/Ours");
}

/// As [`same`], for futures: polled to their end, and dropped without a poll.
#[track_caller]
fn same_async<P: Future, O: Future>(plain: impl Fn() -> P, ours: impl Fn() -> O) {
    block_on(plain());
    let expected = noted();
    let captured = capture(|| drop(block_on(ours())));
    assert_eq!(noted(), expected, "polled");
    captured.assert_outline("Drop/Ours");

    drop(plain());
    let expected = noted();
    let captured = capture(|| drop(ours()));
    assert_eq!(noted(), expected, "not polled");
    captured.assert_outline("");
}

/// As [`same`], for calls that panic.
#[track_caller]
fn same_panic(plain: impl FnOnce(), ours: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(plain)).is_err());
    let expected = noted();
    let captured = capture(|| catch_unwind(AssertUnwindSafe(ours)));
    assert!(captured.value.is_err());
    assert_eq!(noted(), expected);
    captured.assert_outline("Drop/Ours panicked");
}

struct Pair {
    a: Noisy,
    b: Noisy,
}

fn pair() -> Pair {
    Pair { a: Noisy("a"), b: Noisy("b") }
}

#[test]
fn ignored_named_and_moved_arguments() {
    twins! {
        fn f(_: Noisy, _g: Noisy, moved: Noisy, (d, _): (Noisy, Noisy), used: Noisy) {
            let _local = Noisy("local");
            drop(moved);
            note("body");
            let _ = (&d, &used);
        }
    }

    let arguments = || (Noisy("_"), Noisy("_g"), Noisy("moved"), (Noisy("d"), Noisy("d2")), Noisy("used"));
    let plain = |(a, b, c, d, e)| plain::f(a, b, c, d, e);
    let ours = |(a, b, c, d, e)| ours::f(a, b, c, d, e);
    same(|| plain(arguments()), || ours(arguments()));
}

#[test]
fn ignored_named_and_moved_arguments_of_async_functions() {
    twins! {
        async fn f(_: Noisy, _g: Noisy, moved: Noisy, (d, _): (Noisy, Noisy), used: Noisy) {
            let _local = Noisy("local");
            drop(moved);
            ready(()).await;
            note("body");
            let _ = (&d, &used);
        }
    }

    let arguments = || (Noisy("_"), Noisy("_g"), Noisy("moved"), (Noisy("d"), Noisy("d2")), Noisy("used"));
    let plain = |(a, b, c, d, e)| plain::f(a, b, c, d, e);
    let ours = |(a, b, c, d, e)| ours::f(a, b, c, d, e);
    same_async(|| plain(arguments()), || ours(arguments()));
}

#[test]
fn arguments_that_attributes_borrow() {
    async fn plain(_: Noisy, named: Noisy, last: Noisy) {
        note(last.0);
        drop(named);
    }

    #[tc_span("Drop/Ours", attrs(tracecast::keys::tensor::artifact = named.0))]
    async fn ours(_: Noisy, named: Noisy, last: Noisy) {
        note(last.0);
        drop(named);
    }

    let arguments = || (Noisy("_"), Noisy("named"), Noisy("last"));
    let plain = |(a, b, c)| plain(a, b, c);
    let ours = |(a, b, c)| ours(a, b, c);
    same_async(|| plain(arguments()), || ours(arguments()));
}

#[test]
fn a_dropped_future_in_the_middle() {
    twins! {
        async fn f(_: Noisy, a: Noisy, b: Noisy) {
            let _local = Noisy("local");
            drop(a);
            futures::pending!();
            note("never");
            drop(b);
        }
    }

    let cancel = |future: std::pin::Pin<Box<dyn Future<Output = ()>>>| {
        let mut future = future;
        block_on(async { assert!(futures::poll!(&mut future).is_pending()) });
        note("cancel");
    };
    let arguments = || (Noisy("_"), Noisy("a"), Noisy("b"));
    let (x, y, z) = arguments();
    cancel(Box::pin(plain::f(x, y, z)));
    let expected = noted();
    let (x, y, z) = arguments();
    let captured = capture(|| cancel(Box::pin(ours::f(x, y, z))));
    assert_eq!(noted(), expected);
    captured.assert_outline("Drop/Ours cancelled");
}

#[test]
fn a_panic_in_the_middle() {
    mod sync {
        use super::*;
        twins! {
            fn f(_: Noisy, a: Noisy, b: Noisy) {
                let _local = Noisy("local");
                drop(a);
                assert!(b.0.is_empty(), "on purpose");
            }
        }
    }
    mod asynchronous {
        use super::*;
        twins! {
            async fn f(_: Noisy, a: Noisy, b: Noisy) {
                let _local = Noisy("local");
                drop(a);
                assert!(b.0.is_empty(), "on purpose");
            }
        }
    }

    same_panic(
        || sync::plain::f(Noisy("_"), Noisy("a"), Noisy("b")),
        || sync::ours::f(Noisy("_"), Noisy("a"), Noisy("b")),
    );
    same_panic(
        || block_on(asynchronous::plain::f(Noisy("_"), Noisy("a"), Noisy("b"))),
        || block_on(asynchronous::ours::f(Noisy("_"), Noisy("a"), Noisy("b"))),
    );
}

impl Pair {
    fn plain_parts(self, x: Noisy) {
        drop(self.a);
        note(x.0);
    }

    #[tc_span("Drop/Ours")]
    fn parts(self, x: Noisy) {
        drop(self.a);
        note(x.0);
    }

    async fn plain_async_parts(self, x: Noisy) {
        ready(()).await;
        drop(self.a);
        note(x.0);
    }

    #[tc_span("Drop/Ours")]
    async fn async_parts(self, x: Noisy) {
        ready(()).await;
        drop(self.a);
        note(x.0);
    }

    async fn plain_unused(self, x: Noisy) {
        note(x.0);
    }

    #[tc_span("Drop/Ours")]
    async fn unused(self, x: Noisy) {
        note(x.0);
    }

    async fn plain_returned(mut self, x: Noisy, replace: bool) -> Noisy {
        if replace {
            self.a = x;
        }
        self.b
    }

    #[tc_span("Drop/Ours")]
    async fn returned(mut self, x: Noisy, replace: bool) -> Noisy {
        if replace {
            self.a = x;
        }
        self.b
    }
}

#[test]
fn parts_of_self() {
    same(|| pair().plain_parts(Noisy("x")), || pair().parts(Noisy("x")));
    same_async(|| pair().plain_async_parts(Noisy("x")), || pair().async_parts(Noisy("x")));
    same_async(|| pair().plain_unused(Noisy("x")), || pair().unused(Noisy("x")));
    for replace in [true, false] {
        same_async(|| pair().plain_returned(Noisy("x"), replace), || pair().returned(Noisy("x"), replace));
    }
}

#[test]
fn temporaries_of_the_tail() {
    mod sync {
        use super::*;
        twins! {
            fn f(argument: Noisy) -> usize {
                let _local = Noisy("local");
                Noisy("temporary").0.len() + argument.0.len()
            }
        }
    }
    mod lone {
        use super::*;
        twins! {
            fn f(argument: Noisy) -> usize {
                Noisy("temporary").0.len() + argument.0.len()
            }
        }
    }
    mod asynchronous {
        use super::*;
        twins! {
            async fn f(argument: Noisy) -> usize {
                let _local = Noisy("local");
                Noisy("temporary").0.len() + argument.0.len()
            }
        }
    }

    same(|| sync::plain::f(Noisy("x")), || sync::ours::f(Noisy("x")));
    same(|| lone::plain::f(Noisy("x")), || lone::ours::f(Noisy("x")));
    same_async(|| asynchronous::plain::f(Noisy("x")), || asynchronous::ours::f(Noisy("x")));
}
