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

::tracecast::tc_label_for! {
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

::tracecast::tc_metrics! {
    pub(crate) static BYTES: Counter<(keys::flag, keys::device)> = "tc_bare_bytes_total" { unit: "By", budget: 100 };
    static BALANCE: UpDownCounter<(keys::letter,), f64> = "tc_bare_balance";
    static DEPTH: Gauge<(keys::order,), i64> = "tc_bare_depth";
    static SIZES: Histogram<(keys::tenant,), u64> = "tc_bare_sizes" { buckets: [1, 2.5] };
    static TIMES: Histogram = "tc_bare_times_seconds" { exponential };
    static FREE: ObservableGauge<(keys::device,)> = "tc_bare_free_bytes";
}

#[::tracecast::tc_metric(
    calls = "tc_bare_calls_total",
    errors = "tc_bare_errors_total",
    duration = "tc_bare_seconds",
    in_flight = "tc_bare_active",
    labels(keys::letter = Letter::A, keys::flag = |x| *x == 1),
    buckets = [0.1, 1]
)]
fn measured(x: u8) -> ::std::result::Result<u8, Error> {
    if x == 0 { ::std::result::Result::Err(Error::Full) } else { ::std::result::Result::Ok(x) }
}

#[::tracecast::tc_metric(calls = "tc_bare_later_total", error_type = Error, labels(keys::device = device))]
#[::tracecast::tc_span("Bare/Measured", attrs(keys::name = "a"))]
async fn measured_later(device: u32, _: u8, (a, b): (u8, u8)) -> ::std::result::Result<u8, Error> {
    ::std::result::Result::Ok(::std::future::ready(a).await + b)
}

#[::tracecast::tc_metric(calls = "tc_bare_nevers_total")]
async fn measured_never() -> ! {
    ::std::future::pending().await
}

#[::tracecast::tc_metric(calls = "tc_bare_boxed_total")]
fn measured_box() -> ::std::pin::Pin<::std::boxed::Box<dyn ::std::future::Future<Output = u8>>> {
    ::std::boxed::Box::pin(async { 1 })
}

#[::tracecast::tc_metric(
    stream,
    calls = "tc_bare_streams_total",
    items = "tc_bare_items_total",
    first_item = "tc_bare_first_seconds",
    per_item = "tc_bare_next_seconds"
)]
fn measured_stream() -> impl ::futures::Stream<Item = ::std::result::Result<u8, Error>> {
    ::futures::stream::iter([::std::result::Result::Ok(1), ::std::result::Result::Ok(2)])
}

#[track_caller]
#[::tracecast::tc_metric(calls = "tc_bare_callers_total")]
fn measured_caller() -> u32 {
    ::std::panic::Location::caller().line()
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

#[test]
fn every_metric_counts() {
    use ::futures::executor::block_on;

    let captured = ::tracecast::testing::capture(|| {
        BYTES.add(7_u64, (true, 2_u32));
        BALANCE.add(-0.5, (Letter::B,));
        DEPTH.set(-3, (::std::cmp::Ordering::Less,));
        SIZES.record(2_u64, ("x",));
        TIMES.record(0.5, ());
        ::std::mem::drop(FREE.observe((1_u32,), || ::std::option::Option::None));
        ::std::assert!(::std::matches!(measured(1), ::std::result::Result::Ok(1)));
        ::std::assert!(measured(0).is_err());
        ::std::assert!(block_on(measured_later(2, 0, (1, 2))).is_ok());
        block_on(async { ::std::assert!(::futures::poll!(::std::boxed::Box::pin(measured_never())).is_pending()) });
        ::std::assert_eq!(block_on(measured_box()), 1);
        ::std::assert_eq!(block_on(::futures::StreamExt::count(measured_stream())), 2);
        ::std::assert!(measured_caller() > 0);
    });
    captured.assert_outline("Bare/Measured");
    captured.assert_metrics(
        "
        tc_bare_active{test.letter=a} 0
        tc_bare_balance{test.letter=b} -0.5
        tc_bare_boxed_total{outcome=ok} 1
        tc_bare_bytes_total{test.flag=true, test.device=2} 7
        tc_bare_callers_total{outcome=ok} 1
        tc_bare_calls_total{test.letter=a, test.flag=true, outcome=ok} 1
        tc_bare_calls_total{test.letter=a, outcome=error, error.type=Full} 1
        tc_bare_depth{test.order=less} -3
        tc_bare_errors_total{test.letter=a, outcome=error, error.type=Full} 1
        tc_bare_first_seconds count=1
        tc_bare_items_total 2
        tc_bare_later_total{test.device=2, outcome=ok} 1
        tc_bare_nevers_total{outcome=cancelled} 1
        tc_bare_next_seconds count=1
        tc_bare_seconds{test.letter=a, test.flag=true} count=1
        tc_bare_seconds{test.letter=a} count=1
        tc_bare_sizes{test.tenant=x} count=1
        tc_bare_streams_total{outcome=ok} 1
        tc_bare_times_seconds count=1
        ",
    );
}
