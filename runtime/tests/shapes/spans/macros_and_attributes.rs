//! Functions made by `macro_rules!`, and `#[tc_span]` beside other attributes.

use futures::executor::block_on;
use tracecast::keys;
use tracecast::prelude::*;

use crate::support::{check, check_async};

/// Takes a function apart in as many kinds of fragments as there are.
macro_rules! make {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($argument:ident: $ty:ty) $body:block, $span:literal, $key:path = $value:expr) => {
        $(#[$meta])*
        #[tc_span($span, attrs($key = $value))]
        $vis fn $name($argument: $ty) -> $ty $body
    };
    (async $span:literal $name:ident $body:block -> $ty:ty) => {
        #[tc_span($span)]
        async fn $name() -> $ty $body
    };
    (boxed $span:literal $name:ident $value:expr) => {
        #[tc_span($span)]
        fn $name() -> ::std::pin::Pin<::std::boxed::Box<dyn ::std::future::Future<Output = u8>>> {
            ::std::boxed::Box::pin(async { $value })
        }
    };
    (item $span:literal $function:item) => {
        #[tc_span($span)]
        $function
    };
    (component $component:literal $($tokens:tt)*) => {
        #[tc_span(component = $component)]
        impl $($tokens)*
    };
}

mod made {
    use super::*;

    make!(
        #[inline]
        pub(super) fn sync(x: u8) {
            x + 1
        },
        "Made/Sync",
        keys::size_bytes = x
    );
    make!(async "Made/Async" asynchronous { Err("no".to_owned()) } -> Result<u8, String>);
    make!(boxed "Made/Boxed" boxed 3);

    make!(item "Made/Item" pub(super) fn item(x: &mut u8) -> Result<u8, String> {
        *x += 1;
        Ok(*x)
    });
    make!(item "Made/AsyncItem" pub(super) async fn async_item(x: &mut u8) -> Result<u8, String> {
        *x += 1;
        Ok(*x)
    });

    pub(super) async fn call() -> (Result<u8, String>, u8) {
        (asynchronous().await, boxed().await)
    }

    pub(super) struct Made;
    make! { component "Made" Made {
        #[tc_span]
        pub(super) fn method(&self) -> u8 {
            1
        }
    } }
}

#[test]
fn functions_made_by_macros() {
    check(|| made::sync(1), 2, "Made/Sync tc.size.bytes=1");
    let tree = "
        Made/Async error error.type=alloc::string::String error.message=no
        Made/Boxed
    ";
    check_async(made::call, (Err("no".to_owned()), 3), tree);
    check(|| made::item(&mut 1), Ok(2), "Made/Item");
    check(|| block_on(made::async_item(&mut 1)), Ok(2), "Made/AsyncItem");
    check(|| made::Made.method(), 1, "Made/Method");
}

#[test]
fn attributes_on_parameters() {
    #[tc_span("Attribute/Parameters")]
    fn sync(
        #[cfg(not(test))] gone: u8,
        #[cfg(test)] here: u8,
        #[expect(unused_variables, reason = "never read")] unused: u8,
    ) -> u8 {
        here
    }

    #[tc_span("Attribute/AsyncParameters")]
    async fn asynchronous(
        #[cfg(not(test))] gone: u8,
        #[cfg(test)] here: u8,
        #[expect(unused_variables, reason = "never read")] unused: u8,
    ) -> u8 {
        here
    }

    check(|| sync(1, 2), 1, "Attribute/Parameters");
    check_async(|| asynchronous(1, 2), 1, "Attribute/AsyncParameters");
}

#[test]
fn inner_attributes() {
    #[tc_span("Attribute/Inner")]
    fn sync() -> u8 {
        #![expect(unused_variables, reason = "never read")]
        let unused = 1;
        2
    }

    #[tc_span("Attribute/AsyncInner")]
    async fn asynchronous() -> u8 {
        #![expect(unused_variables, reason = "never read")]
        let unused = 1;
        2
    }

    check(sync, 2, "Attribute/Inner");
    check_async(asynchronous, 2, "Attribute/AsyncInner");
}

#[test]
fn attributes_in_the_body() {
    #[tc_span("Attribute/Statement")]
    fn statement() -> u8 {
        #[cfg(any())]
        compile_error!("compiled out");
        #[expect(unused_mut, reason = "never changed")]
        let mut x = 1;
        x + 1
    }

    check(statement, 2, "Attribute/Statement");
}

/// Documented, so that the attribute has a documentation comment above it.
#[must_use]
#[inline(never)]
#[tc_span("Attribute/Above")]
#[cold]
fn surrounded() -> u8 {
    1
}

#[cfg_attr(all(), tc_span("Attribute/CfgAttr"))]
fn conditional() -> u8 {
    1
}

#[cfg_attr(any(), tc_span("Attribute/Never"))]
fn unconditional() -> u8 {
    1
}

#[cfg(any())]
#[tc_span("Attribute/CompiledOut")]
fn compiled_out() {
    compile_error!("compiled out");
}

#[test]
fn attributes_around() {
    check(surrounded, 1, "Attribute/Above");
    check(conditional, 1, "Attribute/CfgAttr");
    check(unconditional, 1, "");
}

#[test]
fn track_caller() {
    #[tc_span("Attribute/TrackCaller")]
    #[track_caller]
    fn below() -> u32 {
        std::panic::Location::caller().line()
    }

    #[track_caller]
    #[tc_span("Attribute/TrackCaller", no_err)]
    fn above() -> Result<u32, String> {
        Ok(std::panic::Location::caller().line())
    }

    let line = line!() + 1;
    check(|| (below(), above()), (line, Ok(line)), "Attribute/TrackCaller\nAttribute/TrackCaller");
}

#[tokio::test]
#[tc_span("Attribute/BelowTokio")]
async fn below_tokio_test() {
    tokio::task::yield_now().await;
}

#[tc_span("Attribute/AboveTokio")]
#[tokio::test]
async fn above_tokio_test() -> Result<(), String> {
    tokio::task::yield_now().await;
    Ok(())
}

#[test]
fn tests_of_tokio() {
    // What `#[tokio::test]` leaves is an ordinary function.
    check(below_tokio_test, (), "Attribute/BelowTokio");
    check(above_tokio_test, Ok(()), "Attribute/AboveTokio");
}

#[test]
fn annotated_functions_inside_of_annotated_functions() {
    #[tc_span("Attribute/Outer")]
    async fn outer() -> u8 {
        #[tc_span("Attribute/Nested")]
        fn nested() -> u8 {
            1
        }
        nested()
    }

    check(|| block_on(outer()), 1, "Attribute/Outer\n  Attribute/Nested");
}

#[test]
fn arguments_of_the_same_name_from_a_macro() {
    macro_rules! add {
        ($name:ident, $other:ident, $($qualifier:ident)?) => {
            #[tc_span("Made/Add")]
            $($qualifier)? fn $name(mut x: &str, mut $other: &str) -> usize {
                let (own, others) = (x.to_owned() + "a", $other.to_owned() + "bb");
                x = &own;
                $other = &others;
                x.len() * 10 + $other.len()
            }
        };
    }
    add!(sync, x,);
    add!(asynchronous, x, async);

    check(|| sync("", ""), 12, "Made/Add");
    check_async(|| asynchronous("", ""), 12, "Made/Add");
}
