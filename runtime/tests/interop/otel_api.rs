//! The OpenTelemetry API over our provider: what its spans hold, whose children they are, and what travels.

#![cfg(feature = "otel")]

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use opentelemetry::baggage::BaggageExt as _;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{
    Link, Span as _, SpanContext, SpanKind, Status, TraceContextExt as _, TraceState, Tracer as _, TracerProvider as _,
};
use opentelemetry::{
    Array, Context as Theirs, InstrumentationScope, KeyValue, SpanId, TraceFlags, TraceId, Value, global,
};
use opentelemetry_proto::tonic::trace::v1::Span as Decoded;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracecast::__bench::ExternalSpans;
use tracecast::config::Propagator;
use tracecast::otel::Interop;
use tracecast::prelude::*;
use tracecast::{Context, Kind, Sampler, Span};

use crate::telemetry::Telemetry;

fn telemetry(sampler: Sampler, interop: Interop) -> Telemetry {
    let propagators = [Propagator::TraceContext, Propagator::Baggage];
    Telemetry::start(sampler, || ExternalSpans::of_otel(1 << 24, interop, &propagators))
}

fn on() -> Telemetry {
    telemetry(Sampler::AlwaysOn, Interop::Boundaries)
}

fn named<'a>(spans: &'a [Decoded], name: &str) -> &'a Decoded {
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no {name} in {spans:?}"))
}

fn at(nanos: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_nanos(nanos)
}

fn remote(sampled: bool) -> SpanContext {
    let state = TraceState::from_key_value([("vendor", "v")]).unwrap();
    SpanContext::new(
        TraceId::from(0xabc),
        SpanId::from(0xde),
        TraceFlags::NOT_SAMPLED.with_sampled(sampled),
        true,
        state,
    )
}

#[test]
fn all_that_a_span_is_told_is_kept() {
    let telemetry = on();
    let scope =
        InstrumentationScope::builder("lib").with_version("1.0").with_schema_url("https://example.org/s").build();
    let tracer = global::tracer_with_scope(scope);
    let builder = tracer
        .span_builder("first")
        .with_kind(SpanKind::Producer)
        .with_start_time(at(500))
        .with_attributes([KeyValue::new("a", 1), KeyValue::new("a", 2)])
        .with_links(vec![Link::new(remote(false), vec![KeyValue::new("l", true)], 0)]);
    let mut span = builder.start(&tracer);
    assert!(span.is_recording() && span.span_context().is_sampled());
    span.set_attribute(KeyValue::new("list", Value::Array(Array::F64(vec![0.5, 1.5]))));
    span.set_attribute(KeyValue::new("a", "three"));
    span.add_event_with_timestamp("event", at(600), vec![KeyValue::new("e", 1.5)]);
    span.record_error(&std::io::Error::other("lost"));
    span.add_link(remote(true), Vec::new());
    span.add_link(SpanContext::NONE, Vec::new());
    span.set_status(Status::error("first"));
    span.set_status(Status::error("second"));
    span.set_status(Status::Unset);
    span.update_name("renamed");
    span.end_with_timestamp(at(900));
    span.set_attribute(KeyValue::new("late", true));
    assert!(!span.is_recording());
    drop(span);
    let scopes = telemetry.scopes();
    let [scope] = &scopes[..] else { panic!("{scopes:?}") };
    let about = scope.scope.as_ref().unwrap();
    assert_eq!((&*about.name, &*about.version, &*scope.schema_url), ("lib", "1.0", "https://example.org/s"));
    let [span] = &scope.spans[..] else { panic!("{scope:?}") };
    assert_eq!((&*span.name, span.kind, span.start_time_unix_nano, span.end_time_unix_nano), ("renamed", 4, 500, 900));
    let keys: Vec<_> = span.attributes.iter().map(|attribute| attribute.key.as_str()).collect();
    assert_eq!(keys, ["a", "list"]);
    assert!(
        format!("{:?}", span.attributes[0]).contains("three") && format!("{:?}", span.attributes[1]).contains("1.5")
    );
    let events: Vec<_> = span.events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!((events, span.events[0].time_unix_nano), (vec!["event", "exception"], 600));
    assert!(format!("{:?}", span.events[1]).contains("lost"));
    let links: Vec<_> = span.links.iter().map(|link| (link.flags, &*link.trace_state, link.attributes.len())).collect();
    assert_eq!(links, [(0x300, "vendor=v", 1), (0x301, "vendor=v", 0)]);
    assert_eq!(span.status.as_ref().map(|status| (status.code, &*status.message)), Some((2, "second")));
    assert_eq!(telemetry.counts(), [1, 0, 0]);
}

#[test]
fn a_context_that_was_chosen_is_the_parent() {
    let telemetry = on();
    let tracer = global::tracer("t");
    let chosen = Theirs::new().with_remote_span_context(remote(true));
    Span::builder("ours", Kind::Internal).start().in_scope(|| {
        tracer.start_with_context("chosen", &chosen).end();
        // A copy of the current one means the current one.
        tracer.start_with_context("copied", &Theirs::current()).end();
        let _attached = chosen.clone().attach();
        tracer.start("attached").end();
        Span::builder("below", Kind::Internal).start().end();
    });
    let spans = telemetry.spans();
    let parent = |name: &str| named(&spans, name).parent_span_id.clone();
    for name in ["chosen", "attached", "below"] {
        assert_eq!(parent(name), 0xde_u64.to_be_bytes(), "{name}");
        assert_eq!(named(&spans, name).flags, 0x301, "{name}");
        assert_eq!(named(&spans, name).trace_id, 0xabc_u128.to_be_bytes(), "{name}");
    }
    assert_eq!(named(&spans, "attached").trace_state, "vendor=v");
    assert_eq!(parent("copied"), named(&spans, "ours").span_id);
}

#[test]
fn a_root_can_be_asked_for_where_all_is_attached() {
    let telemetry = telemetry(Sampler::AlwaysOn, Interop::Full);
    Span::builder("ours", Kind::Internal).start().in_scope(|| {
        global::tracer("t").start_with_context("root", &Theirs::new()).end();
    });
    assert_eq!(telemetry.tree(), "ours,root");
}

#[test]
fn a_parent_that_is_not_sampled_is_followed() {
    let telemetry = on();
    let chosen = Theirs::new().with_remote_span_context(remote(false));
    let mut span = global::tracer("t").start_with_context("raw", &chosen);
    assert!(!span.is_recording() && span.span_context().is_valid() && !span.span_context().is_sampled());
    assert_eq!(span.span_context().trace_id(), TraceId::from(0xabc));
    span.set_attribute(KeyValue::new("a", 1));
    let _attached = Theirs::new().with_span(span).attach();
    Span::builder("ours", Kind::Internal).start().in_scope(|| {
        assert!(!Context::current().is_sampled());
        assert_eq!(Context::current().trace_id().0, 0xabc);
    });
    assert_eq!(telemetry.tree(), "");
}

/// The headers that a propagator of others writes for the current context.
fn injected() -> HashMap<String, String> {
    let mut headers = HashMap::new();
    TraceContextPropagator::new().inject_context(&Theirs::current(), &mut headers);
    headers
}

/// What was injected, and where.
type Seen = (HashMap<String, String>, Context);

fn header(context: &Context) -> String {
    format!("00-{}-{}-{:02x}", context.trace_id(), context.span_id(), u8::from(context.is_sampled()))
}

#[tc_span("Client/Call", kind = client)]
fn call() -> Seen {
    (injected(), Context::current())
}

#[tc_span("Client/CallAsync", kind = client)]
async fn call_async() -> Seen {
    tokio::task::yield_now().await;
    (injected(), Context::current())
}

#[tc_span("Client/Internal")]
fn internal() -> Seen {
    (injected(), Context::current())
}

#[tc_span("Client/Root")]
fn root<R>(f: impl FnOnce() -> R) -> R {
    f()
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

#[test]
fn a_propagator_of_others_injects_a_client_span() {
    for (sampler, sampled) in [(Sampler::AlwaysOn, true), (Sampler::AlwaysOff, false)] {
        let _telemetry = telemetry(sampler, Interop::Boundaries);
        let ways: [fn() -> Seen; 4] = [
            call,
            || root(call),
            || block_on(call_async()),
            || {
                root(|| {
                    block_on(async {
                        tokio::task::yield_now().await;
                        call_async().await
                    })
                })
            },
        ];
        for (at, way) in ways.into_iter().enumerate() {
            let (headers, context) = way();
            assert_eq!((context.is_sampled(), context.is_valid()), (sampled, true), "{at}");
            assert_eq!(headers.get("traceparent"), Some(&header(&context)), "{at}");
            assert!(!Theirs::current().has_active_span(), "{at}");
        }
        assert_eq!(internal().0.get("traceparent"), None);
    }
    let _telemetry = telemetry(Sampler::AlwaysOn, Interop::Full);
    let (headers, context) = internal();
    assert_eq!(headers.get("traceparent"), Some(&header(&context)));
}

#[test]
fn the_global_propagator_injects_whatever_span_is_current() {
    let _telemetry = on();
    let written = || {
        let mut headers = HashMap::new();
        global::get_text_map_propagator(|propagator| propagator.inject_context(&Theirs::current(), &mut headers));
        headers.get("traceparent").cloned()
    };
    assert_eq!(written(), None);
    root(|| {
        assert_eq!(written(), Some(header(&Context::current())));
        global::tracer("t").in_span("raw", |context| {
            assert!(written().unwrap().contains(&context.span().span_context().span_id().to_string()));
            root(|| assert_eq!(written(), Some(header(&Context::current()))));
        });
    });
}

#[test]
fn the_global_propagator_leaves_no_header_of_an_earlier_caller() {
    let _telemetry = on();
    let passed_on = || {
        let mut headers: HashMap<String, String> =
            ["traceparent", "tracestate", "baggage"].map(|name| (name.to_owned(), "stale=1".to_owned())).into();
        global::get_text_map_propagator(|propagator| propagator.inject_context(&Theirs::current(), &mut headers));
        ["tracestate", "baggage"].map(|name| headers[name].clone())
    };
    assert_eq!(passed_on(), ["stale=1"; 2], "without a span nothing is touched");
    assert_eq!(root(passed_on), ["", ""]);
    let _baggage = Theirs::current_with_baggage([KeyValue::new("tenant", "gold")]).attach();
    assert_eq!(root(passed_on), ["", "tenant=gold"]);
}

#[test]
fn baggage_and_tracestate_go_through_a_client_span() {
    let _telemetry = on();
    let around = Theirs::new().with_remote_span_context(remote(true)).with_baggage([KeyValue::new("tenant", "gold")]);
    let _attached = around.attach();
    let (headers, _) = call();
    assert_eq!(headers.get("tracestate").map(String::as_str), Some("vendor=v"));
    let seen = Span::builder("b", Kind::Server).start().in_scope(|| Theirs::current().baggage().get("tenant").cloned());
    assert_eq!(seen.map(|value| value.to_string()).as_deref(), Some("gold"));
}

#[test]
fn what_was_attached_is_taken_away_whatever_happens() {
    let _telemetry = on();
    let is_clean = || !Theirs::current().has_active_span();
    let client = || Span::builder("client", Kind::Client).start();
    // A panic, in a function and in a poll.
    let panicked = std::panic::catch_unwind(|| client().in_scope(|| panic!("on purpose")));
    assert!(panicked.is_err() && is_clean());
    let panicked = std::panic::catch_unwind(|| block_on(async { panic!("on purpose") }.in_span(client())));
    assert!(panicked.is_err() && is_clean());
    // Guards that are dropped in the wrong order.
    let first = tc_scope!("Guard/First", kind = client);
    let second = tc_scope!("Guard/Second", kind = client);
    let inner = Theirs::current().span().span_context().span_id();
    drop(first);
    assert_eq!(Theirs::current().span().span_context().span_id(), inner);
    drop(second);
    assert!(is_clean());
    // One that is never dropped, cut off by the function around it.
    root(|| std::mem::forget(tc_scope!("Guard/Forgotten", kind = client)));
    assert!(is_clean());
    // One that is held across an await, and dropped after its frame is gone.
    block_on(async {
        let work = async {
            let guard = tc_scope!("Guard/Held", kind = client);
            tokio::task::yield_now().await;
            drop(guard);
        };
        let mut work = std::pin::pin!(work.in_span(Span::builder("around", Kind::Internal).start()));
        assert!(futures::poll!(&mut work).is_pending());
        assert!(!Theirs::current().has_active_span());
        let other = tc_scope!("Guard/Other", kind = client);
        let others = Theirs::current().span().span_context().span_id();
        work.await;
        assert_eq!(Theirs::current().span().span_context().span_id(), others);
        drop(other);
    });
    assert!(is_clean());
}

#[test]
fn a_span_that_was_made_here_and_dropped_on_another_thread_does_no_harm() {
    let telemetry = on();
    let mut future = Box::pin(call_async());
    assert!(block_on(async { futures::poll!(future.as_mut()).is_pending() }));
    std::thread::spawn(move || drop(future)).join().unwrap();
    assert!(!Theirs::current().has_active_span());
    assert_eq!(telemetry.tree(), "Client/CallAsync");
}

#[test]
fn shared_keys_go_on_below_a_span_of_theirs() {
    mod keys {
        tracecast::tc_keys! { pub(crate) id tenant: str = "t.tenant"; }
    }
    #[tc_span("Share/Inner")]
    fn inner() {}
    #[tc_span("Share/Outer", share(keys::tenant = "gold"))]
    fn outer() {
        global::tracer("t").in_span("raw", |_| inner());
    }
    let telemetry = on();
    outer();
    let spans = telemetry.spans();
    assert!(format!("{:?}", named(&spans, "Share/Inner").attributes).contains("gold"));
}

#[test]
fn inside_a_capture_theirs_are_transparent() {
    let telemetry = on();
    let captured = tracecast::testing::capture(|| {
        global::tracer("t").in_span("outside", |_| {
            root(|| global::tracer("t").in_span("raw", |_| drop(call())));
        });
    });
    captured.assert_outline(
        "
        Client/Root
          Client/Call [client]
    ",
    );
    assert_eq!((telemetry.tree(), telemetry.counts()), (String::new(), [0, 0, 0]));
}

#[test]
fn after_the_end_a_tracer_records_nothing_and_hands_on_its_context() {
    let telemetry = on();
    let (tracer, own) = (global::tracer("t"), tracecast::otel::provider().tracer("own"));
    let open = tracer.start("open");
    let turn = telemetry.stop();
    drop(open);
    let chosen = Theirs::new().with_remote_span_context(remote(true));
    let mut span = own.start_with_context("late", &chosen);
    assert!(!span.is_recording());
    assert_eq!(span.span_context(), &remote(true));
    span.end();
    assert!(!tracer.start("late").is_recording());
    drop(turn);
    let telemetry = on();
    // A tracer that was kept works again.
    tracer.start("again").end();
    assert_eq!(telemetry.tree(), "again");
}

#[test]
fn what_is_suppressed_makes_no_spans() {
    let telemetry = on();
    let _guard = Theirs::enter_telemetry_suppressed_scope();
    assert!(!global::tracer("t").start("hidden").is_recording());
    assert_eq!(telemetry.tree(), "");
}

#[test]
fn a_sampler_is_asked_about_roots_of_theirs_too() {
    let only = Sampler::Custom(std::sync::Arc::new(|root: &tracecast::Root<'_>| {
        root.name == "wanted" && root.kind == Kind::Consumer
    }));
    let telemetry = telemetry(only, Interop::Boundaries);
    let tracer = global::tracer("t");
    for (name, kind) in [("wanted", SpanKind::Consumer), ("wanted", SpanKind::Server), ("other", SpanKind::Consumer)] {
        let span = tracer.span_builder(name).with_kind(kind).start(&tracer);
        let _attached = Theirs::new().with_span(span).attach();
        Span::builder("below", Kind::Internal).start().end();
    }
    assert_eq!(telemetry.tree(), "wanted(below)");
}

/// A thread-local whose destructor makes spans, after others have run.
#[test]
fn spans_at_the_very_end_of_a_thread_do_no_harm() {
    struct AtExit;
    impl Drop for AtExit {
        fn drop(&mut self) {
            drop(call_at_exit());
        }
    }
    #[tc_span("Exit/Call", kind = client)]
    fn call_at_exit() -> Context {
        Context::current()
    }
    thread_local! { static EXIT: AtExit = const { AtExit }; }
    let _telemetry = on();
    for first in [true, false] {
        let thread = std::thread::spawn(move || {
            if first {
                EXIT.with(|_| ());
            }
            drop(call());
            EXIT.with(|_| ());
        });
        assert!(thread.join().is_ok());
    }
}
