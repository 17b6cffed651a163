//! Generated code needs nothing of the user's scope: no prelude, and modules and items of its own names.

#![no_implicit_prelude]
#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
#![forbid(unsafe_code)]
#![expect(dead_code, reason = "what shadows is there to be in the way, and is not used")]
#![allow(clippy::redundant_pub_crate, reason = "it contradicts `unreachable_pub`")]

mod std {}
mod core {}
mod alloc {}
mod tracecast {}

enum Option {
    None,
}
struct Result;
struct Box;
struct Vec;
struct String;
trait Fn {}
trait FnOnce {}
trait Future {}
trait Send {}
#[expect(non_snake_case, reason = "a user may")]
const fn Ok() {}
#[expect(non_snake_case, reason = "a user may")]
const fn Some() {}
#[expect(non_snake_case, reason = "a user may")]
const fn Err() {}

mod keys {
    ::tracecast::tc_keys! {
        pub(super) label flag: bool = "test.flag";
        pub(super) label letter: super::Letter = "test.letter";
        pub(super) label order: super::Order = "test.order";
        pub(super) label device: Index<3> = "test.device";
        pub(super) label tenant: Interned<3> = "test.tenant";
        pub(super) id name: str = "test.name";
        pub(super) measure bytes: u64 = "test.bytes";
        id private: str = "test.private";
    }
}

#[derive(::std::clone::Clone, ::std::marker::Copy, ::tracecast::TcLabel)]
enum Letter {
    A,
    #[tc_label(other)]
    B,
}

#[derive(::std::fmt::Debug, ::tracecast::TcError)]
enum Error {
    Empty(u8),
    Full,
}

impl ::std::fmt::Display for Error {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        ::std::fmt::Debug::fmt(self, f)
    }
}

::tracecast::label_for! {
    struct Order for ::std::cmp::Ordering {
        Less => "less",
        _ => "other",
    }
}

#[::tracecast::tc_span(
    "Bare/Sync",
    attrs(keys::name = "a", keys::flag = true, keys::letter = Letter::A, keys::order = ::std::cmp::Ordering::Less),
    share(keys::tenant = "x"),
    links(::tracecast::Context::current()),
    result(keys::bytes = |x| *x)
)]
fn sync(x: u8) -> ::std::result::Result<u8, Error> {
    if x == 0 { ::std::result::Result::Err(Error::Empty(x)) } else { ::std::result::Result::Ok(x) }
}

#[::tracecast::tc_span("Bare/Async", attrs(keys::name = "a"), result(keys::flag = |x| *x == 1))]
async fn asynchronous(x: u8, _: u8, (a, b): (u8, u8)) -> ::std::result::Result<u8, Error> {
    ::std::result::Result::Ok(::std::future::ready(x).await + a + b)
}

#[::tracecast::tc_span("Bare/Never")]
async fn never() -> ! {
    ::std::future::pending().await
}

#[::tracecast::tc_span(db(system = "sqlite", collection = table, operation = "select"))]
fn database(table: &str) {}

#[::tracecast::tc_span("Bare/Boxed")]
fn boxed() -> ::std::pin::Pin<::std::boxed::Box<dyn ::std::future::Future<Output = u8>>> {
    ::std::boxed::Box::pin(async { 1 })
}

#[::tracecast::tc_span("Bare/Returned", future)]
fn returned() -> impl ::std::future::Future<Output = u8> {
    ::std::future::ready(1)
}

#[::tracecast::tc_span("Bare/Stream", stream)]
fn stream() -> impl ::futures::Stream<Item = u8> {
    ::futures::stream::iter([1, 2])
}

struct Store;

#[::tracecast::tc_span(component = "Bare")]
impl Store {
    #[::tracecast::tc_span]
    fn method(&self) -> ::std::option::Option<&Self> {
        ::std::option::Option::Some(self)
    }
}

fn scope() {
    let _scope = ::tracecast::tc_scope!("Bare/Scope", attrs(keys::flag = true));
}

#[test]
fn every_form_runs() {
    use ::futures::executor::block_on;

    let captured = ::tracecast::testing::capture(|| {
        ::std::assert!(::std::matches!(sync(1), ::std::result::Result::Ok(1)));
        ::std::assert!(sync(0).is_err());
        ::std::assert!(block_on(asynchronous(1, 0, (0, 0))).is_ok());
        block_on(async { ::std::assert!(::futures::poll!(::std::boxed::Box::pin(never())).is_pending()) });
        database("t");
        ::std::assert_eq!(block_on(boxed()) + block_on(returned()), 2);
        ::std::assert_eq!(block_on(::futures::StreamExt::count(stream())), 2);
        ::std::assert!(Store.method().is_some());
        scope();
    });
    captured.assert_outline(
        "
        Bare/Sync
        Bare/Sync error
        Bare/Async
        Bare/Never cancelled
        t.select [client]
        Bare/Boxed
        Bare/Returned
        Bare/Stream
        Bare/Method
        Bare/Scope
        ",
    );
}
