//! The options of `#[tc_span]`: what is evaluated when and how often, and what ends up on the span.

use std::cell::Cell;

use futures::executor::block_on;
use tracecast::prelude::*;
use tracecast::testing::capture;
use tracecast::{Context, keys};
use tracecast::{Kind, SpanId, TraceId};

use crate::support::{check, check_async, note, noted};

/// Counts how often it is asked.
#[derive(Default)]
struct Counted(Cell<u8>);

impl Counted {
    fn next(&self) -> u8 {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }
}

fn unsampled() -> Context {
    Context::remote(TraceId(1), SpanId(1), false)
}

#[tc_span("Option/Attrs", attrs(keys::size_bytes = counted.next()), result(keys::tensor::artifact = |x| format!("{x}{}", counted.next())))]
fn counts(counted: &Counted) -> u8 {
    7
}

#[tc_span("Option/AsyncAttrs", attrs(keys::size_bytes = counted.next()))]
async fn counts_later(counted: &Counted) -> u8 {
    counted.0.get()
}

#[test]
fn expressions_run_once() {
    let counted = Counted::default();
    check(|| counts(&counted), 7, "Option/Attrs tc.size.bytes=1 tc.artifact.id=72");
    check_async(|| counts_later(&counted), 3, "Option/AsyncAttrs tc.size.bytes=3");
    assert_eq!(counted.0.get(), 3);
}

#[test]
fn expressions_run_only_if_the_span_is_recorded() {
    #[tc_span("Option/NeedsParent", needs_parent, attrs(keys::size_bytes = counted.next()))]
    fn needs_parent(counted: &Counted) {}

    let counted = Counted::default();
    assert_eq!(counts(&counted), 7, "in no context");
    assert_eq!(block_on(counts_later(&counted)), 0);
    assert_eq!(unsampled().run(|| counts(&counted)), 7, "below an unsampled span");
    assert_eq!(unsampled().run(|| block_on(counts_later(&counted))), 0);
    check(|| needs_parent(&counted), (), "");
    assert_eq!(counted.0.get(), 0);
}

#[test]
fn expressions_of_async_functions_run_at_the_call() {
    #[tc_span("Option/AtTheCall", attrs(keys::tensor::artifact = { note("attribute"); "x" }))]
    async fn at_the_call() {
        note("body");
    }

    let captured = capture(|| {
        let future = at_the_call();
        note("called");
        block_on(future);
    });
    assert_eq!(noted(), ["attribute", "called", "body"]);
    captured.assert_tree("Option/AtTheCall tc.artifact.id=x");
}

#[test]
fn what_is_not_named_is_not_captured() {
    /// Neither `Debug` nor `Display`.
    struct Secret(&'static str);

    #[tc_span("Option/Login", attrs(keys::tensor::artifact = user))]
    fn login(user: &str, password: Secret) -> usize {
        user.len() + password.0.len()
    }

    #[tc_span("Option/AsyncLogin")]
    async fn login_later(user: &str, password: Secret) -> Result<usize, Secret> {
        if user.is_empty() { Err(password) } else { Ok(password.0.len()) }
    }

    check(|| login("me", Secret("1234")), 6, "Option/Login tc.artifact.id=me");
    check(|| block_on(login_later("me", Secret("1234"))).ok(), Some(4), "Option/AsyncLogin");
    let captured = capture(|| block_on(login_later("", Secret("1234"))).err().map(|secret| secret.0));
    assert_eq!(captured.value, Some("1234"));
    assert!(!captured.tree().contains("1234"), "{captured}");
}

#[test]
fn attributes_may_borrow_what_the_body_consumes() {
    #[tc_span("Option/Borrows", attrs(keys::tensor::artifact = &id, keys::size_bytes = bytes.len()))]
    fn sync(id: String, bytes: Vec<u8>) -> (String, Vec<u8>) {
        (id, bytes)
    }

    #[tc_span("Option/AsyncBorrows", attrs(keys::tensor::artifact = &id))]
    async fn asynchronous(id: String) -> String {
        id
    }

    check(|| sync("a".into(), vec![1]), ("a".into(), vec![1]), "Option/Borrows tc.artifact.id=a tc.size.bytes=1");
    check_async(|| asynchronous("a".into()), "a".to_owned(), "Option/AsyncBorrows tc.artifact.id=a");
}

#[test]
fn results() {
    #[tc_span("Option/Result", result(keys::size_bytes = |bytes| bytes.len(), keys::tensor::artifact = |_| "x"))]
    fn fallible(ok: bool) -> Result<Vec<u8>, String> {
        if ok { Ok(vec![1, 2]) } else { Err("no".to_owned()) }
    }

    #[tc_span("Option/Plain", result(keys::size_bytes = |text| text.len()))]
    async fn plain() -> String {
        "abc".to_owned()
    }

    #[tc_span("Option/Optional", result(keys::size_bytes = |found| *found))]
    fn optional(x: Option<u8>) -> Option<u8> {
        x
    }

    check(|| fallible(true).is_ok(), true, "Option/Result tc.size.bytes=2 tc.artifact.id=x");
    let error = "Option/Result error error.type=alloc::string::String error.message=no";
    check(|| fallible(false).is_ok(), false, error);
    check_async(plain, "abc".to_owned(), "Option/Plain tc.size.bytes=3");
    check(|| optional(Some(4)), Some(4), "Option/Optional tc.size.bytes=4");
    check(|| optional(None), None, "Option/Optional");
}

#[test]
fn kinds() {
    #[tc_span("Kind/Client", kind = client)]
    fn client() {}
    #[tc_span("Kind/Server", kind = server)]
    async fn server() {}
    #[tc_span("Kind/Producer", kind = producer)]
    fn producer() {}
    #[tc_span("Kind/Consumer", kind = consumer)]
    fn consumer() {}
    #[tc_span("Kind/Internal", kind = internal)]
    fn internal() {}

    let captured = capture(|| {
        client();
        block_on(server());
        producer();
        consumer();
        internal();
    });
    let kinds: Vec<_> = captured.spans.iter().map(|span| span.kind).collect();
    assert_eq!(kinds, [Kind::Client, Kind::Server, Kind::Producer, Kind::Consumer, Kind::Internal]);
}

#[test]
fn databases() {
    #[tc_span(db(system = "postgresql", collection = "users", operation = "select"))]
    async fn known() -> u8 {
        1
    }

    #[tc_span(db(system = "postgresql", collection = table.clone(), operation = "select", namespace = "main", query = format!("select {}", counted.next())))]
    fn dynamic(table: String, counted: &Counted) -> String {
        table
    }

    let known_tree =
        "users.select [client] db.system.name=postgresql db.collection.name=users db.operation.name=select";
    check_async(known, 1, known_tree);
    let counted = Counted::default();
    let tree = r#"t.select [client] db.system.name=postgresql db.collection.name=t db.operation.name=select db.namespace=main db.query.text="select 1""#;
    check(|| dynamic("t".to_owned(), &counted), "t".to_owned(), tree);
}

#[test]
fn spans_with_a_heartbeat_are_ordinary_until_then() {
    #[tc_span("Option/Announced", heartbeat = "30s")]
    fn announced() -> u8 {
        1
    }

    check(announced, 1, "Option/Announced");
}

/// Yields once, so that it has two polls.
#[tc_span("Option/Busy", busy)]
async fn busy(work: impl FnOnce()) -> u8 {
    work();
    let mut was_pending = false;
    std::future::poll_fn(move |task| {
        if std::mem::replace(&mut was_pending, true) {
            return std::task::Poll::Ready(());
        }
        task.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
    1
}

/// The busy time, the number of polls and the longest one.
fn polls_of(captured: &tracecast::testing::Captured<impl Sized>, name: &str) -> (f64, u64, f64) {
    let span = captured.span(name);
    let seconds = |name| match span.attribute(name) {
        Some(tracecast::OwnedValue::F64(seconds)) => *seconds,
        other => panic!("{name}: {other:?}"),
    };
    let Some(tracecast::OwnedValue::U64(polls)) = span.attribute("tc.polls") else { panic!("{span:?}") };
    (seconds("tc.busy.seconds"), *polls, seconds("tc.poll.longest.seconds"))
}

#[test]
fn busy_spans_record_their_polls() {
    let nap = std::time::Duration::from_millis(20);
    let captured = capture(|| block_on(busy(|| std::thread::sleep(nap))));
    let (busy_seconds, polls, longest) = polls_of(&captured, "Option/Busy");
    assert!(polls == 2 && longest >= nap.as_secs_f64() && busy_seconds > longest, "{busy_seconds} {polls} {longest}");
    // Dropped after its first poll, and unwound in it.
    let cancelled = capture(|| {
        let mut future = Box::pin(busy(|| ()));
        let waker = std::task::Waker::noop();
        assert!(future.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
    });
    assert_eq!(polls_of(&cancelled, "Option/Busy").1, 1);
    let panicked =
        capture(|| std::panic::catch_unwind(|| block_on(busy(|| std::panic::resume_unwind(Box::new(()))))).is_err());
    assert!(panicked.value && polls_of(&panicked, "Option/Busy").1 == 1);
    // A block of code, and more attributes than fit into the memory that a span has at first.
    let block = capture(|| {
        let scope = tc_scope!("Option/BusyBlock", attrs("text" = "x".repeat(370)), busy);
        block_on(async { tokio::task::yield_now().await }.in_span(scope));
    });
    assert_eq!(polls_of(&block, "Option/BusyBlock").1, 2);
    assert_eq!(block.span("Option/BusyBlock").attributes.len(), 4);
    let never = capture(|| drop(busy(|| ())));
    assert!(never.spans.is_empty());
}

#[test]
fn busy_streams_record_their_polls() {
    #[tc_span("Option/BusyStream", busy)]
    fn items() -> impl futures::Stream<Item = u8> {
        futures::stream::iter([1, 2, 3])
    }

    let captured = capture(|| block_on(futures::StreamExt::collect::<Vec<u8>>(items())));
    assert_eq!(captured.value, [1, 2, 3]);
    let (busy_seconds, polls, longest) = polls_of(&captured, "Option/BusyStream");
    assert!(polls == 4 && busy_seconds >= longest && longest > 0.0, "{busy_seconds} {polls} {longest}");
}
