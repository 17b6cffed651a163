//! Our spans as spans of `tracing`, seen by its subscribers.

#![cfg(feature = "tracing-emit")]

use std::io::Write;
use std::sync::{Arc, Mutex};

use tracecast::__bench::ExternalSpans;
use tracecast::config::Config;
use tracecast::prelude::*;
use tracecast::tracing_spans::{layer, set_emitting};
use tracecast::{Context, Kind, Sampler, Span, SpanId, TraceId};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Instrument as _, Subscriber};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Context as LayerContext, Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

use crate::telemetry::Telemetry;
use crate::turn::turn;

/// Telemetry during which spans are emitted.
struct Emitting(Telemetry);

impl Emitting {
    fn start(sampler: Sampler) -> Self {
        let telemetry = Telemetry::start(sampler, || ExternalSpans::start(1 << 24));
        set_emitting(true);
        Emitting(telemetry)
    }
}

impl Drop for Emitting {
    fn drop(&mut self) {
        set_emitting(false);
    }
}

/// A layer that keeps what happens to each span.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn note<'a, S: Subscriber + for<'b> LookupSpan<'b>>(&self, what: &str, id: &Id, context: &LayerContext<'a, S>) {
        self.0.lock().unwrap().push(format!("{what} {}", context.span(id).unwrap().name()));
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Seen {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: LayerContext<'_, S>) {
        let parent =
            context.span(id).unwrap().parent().map_or(String::new(), |parent| format!(" in {}", parent.name()));
        let what = format!("new {}{parent} {}", attributes.metadata().name(), attributes.values());
        self.0.lock().unwrap().push(what.trim_end_matches(" {}").to_owned());
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: LayerContext<'_, S>) {
        let mut names = Names(Vec::new());
        values.record(&mut names);
        self.note(&format!("record {} on", names.0.join(" ")), id, &context);
    }

    fn on_enter(&self, id: &Id, context: LayerContext<'_, S>) {
        self.note("enter", id, &context);
    }

    fn on_exit(&self, id: &Id, context: LayerContext<'_, S>) {
        self.note("exit", id, &context);
    }

    fn on_close(&self, id: Id, context: LayerContext<'_, S>) {
        self.note("close", &id, &context);
    }
}

/// Fields with their values.
struct Names(Vec<String>);

impl Visit for Names {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.push(format!("{field}={value:?}"));
    }
}

fn seen(f: impl FnOnce()) -> Vec<String> {
    let seen = Seen::default();
    tracing::subscriber::with_default(tracing_subscriber::registry().with(seen.clone()), f);
    seen.take()
}

#[tc_span("Emit/Load", attrs(tracecast::keys::tensor::artifact = name))]
fn load(name: &str) {
    let _ = read();
}

#[tc_span("Emit/Read", result(tracecast::keys::size_bytes = |bytes| *bytes))]
fn read() -> Result<u64, std::io::Error> {
    tracing::info!("reading");
    Ok(7)
}

#[tc_span("Emit/Fail")]
fn fail() -> Result<(), std::io::Error> {
    Err(std::io::Error::other("gone"))
}

#[test]
fn a_fmt_layer_shows_our_spans() {
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);
    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let emitting = Emitting::start(Sampler::AlwaysOn);
    let kept = Kept::default();
    let writer = kept.clone();
    let lines = fmt::layer()
        .without_time()
        .with_ansi(false)
        .with_span_events(fmt::format::FmtSpan::CLOSE)
        .with_writer(move || writer.clone());
    tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), || {
        load("llama");
        fail().unwrap_err();
        tracing::info!("after");
    });
    let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
    let text: String = text.lines().map(|line| format!("{}\n", line.split(" time.busy").next().unwrap())).collect();
    let load = r#"Emit/Load{tc.artifact.id="llama"}"#;
    let expected = format!(
        " INFO {load}:Emit/Read: interop::emitted: reading\n \
         INFO {load}:Emit/Read{{tc.size.bytes=7}}: tracecast: close\n \
         INFO {load}: tracecast: close\n \
         INFO Emit/Fail{{error.type=\"io::Other\" error.message=\"gone\"}}: tracecast: close\n \
         INFO interop::emitted: after\n"
    );
    assert_eq!(text, expected);
    assert_eq!(emitting.0.tree(), "Emit/Fail,Emit/Load(Emit/Read)");
}

#[test]
fn sentry_gets_a_transaction_with_our_spans() {
    use sentry_core::protocol::{Context as SentryContext, EnvelopeItem};

    #[tc_span("Emit/Request", attrs(tracecast::keys::tensor::artifact = "llama"))]
    fn request() {
        load("llama");
        tracing::error!("lost");
    }
    let emitting = Emitting::start(Sampler::AlwaysOn);
    let options = sentry_core::ClientOptions::default().traces_sample_rate(1.0);
    let envelopes = sentry_core::test::with_captured_envelopes_options(
        || {
            let subscriber = tracing_subscriber::registry().with(sentry_tracing::layer());
            tracing::subscriber::with_default(subscriber, request);
        },
        options,
    );
    let items: Vec<_> = envelopes.iter().flat_map(|envelope| envelope.items()).collect();
    let [EnvelopeItem::Event(error), EnvelopeItem::Transaction(transaction)] = items[..] else {
        panic!("expected an error and a transaction: {items:?}");
    };
    assert_eq!(transaction.name.as_deref(), Some("Emit/Request"));
    let root = match &transaction.contexts["trace"] {
        SentryContext::Trace(trace) => trace,
        other => panic!("{other:?}"),
    };
    assert_eq!(root.data["tc.artifact.id"], "llama");
    let spans: Vec<_> = transaction.spans.iter().map(|span| (span.description.as_deref().unwrap(), span)).collect();
    let of = |name| spans.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("{name} in {spans:?}")).1;
    assert_eq!(spans.len(), 2);
    assert_eq!(of("Emit/Load").parent_span_id, Some(root.span_id));
    assert_eq!(of("Emit/Read").parent_span_id, Some(of("Emit/Load").span_id));
    assert_eq!(of("Emit/Read").data["tc.size.bytes"], 7);
    assert_eq!(error.message.as_deref(), Some("lost"));
    let SentryContext::Trace(of_error) = &error.contexts["trace"] else { panic!("{:?}", error.contexts) };
    assert_eq!((of_error.trace_id, of_error.span_id), (root.trace_id, root.span_id));
    assert_eq!(emitting.0.tree(), "Emit/Request(Emit/Load(Emit/Read))");
}

#[test]
fn each_span_is_entered_left_and_closed_in_order() {
    let _emitting = Emitting::start(Sampler::AlwaysOn);
    let expected = [
        "new Emit/Load {tc.artifact.id: \"llama\"}",
        "enter Emit/Load",
        "new Emit/Read in Emit/Load",
        "enter Emit/Read",
        "exit Emit/Read",
        "record tc.size.bytes=7 on Emit/Read",
        "close Emit/Read",
        "exit Emit/Load",
        "close Emit/Load",
    ];
    assert_eq!(seen(|| load("llama")), expected);
}

/// `tracing` has no lists.
#[test]
fn lists_are_texts() {
    #[tc_span("Emit/List", attrs("test.tags" = ["a", "b c"], "test.sizes" = [1, 2]))]
    fn work() {}
    let _emitting = Emitting::start(Sampler::AlwaysOn);
    let events = seen(work);
    assert_eq!(events[0], r#"new Emit/List {test.tags: "[\"a\",\"b c\"]", test.sizes: "[1,2]"}"#);
}

#[test]
fn futures_are_entered_at_each_poll() {
    #[tc_span("Emit/Async", attrs(tracecast::keys::size_bytes = n))]
    async fn work(n: u64) {
        tokio::task::yield_now().await;
    }
    let _emitting = Emitting::start(Sampler::AlwaysOn);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let events = seen(|| {
        drop(work(0));
        runtime.block_on(async {
            tokio::join!(work(1), work(2));
            let mut dropped = Box::pin(work(3));
            assert!(futures::poll!(dropped.as_mut()).is_pending());
        });
    });
    let once = |event: &str| events.iter().filter(|known| known.starts_with(event)).count();
    assert_eq!(
        events[..4],
        [
            "new Emit/Async {tc.size.bytes: 1}",
            "enter Emit/Async",
            "exit Emit/Async",
            "new Emit/Async {tc.size.bytes: 2}"
        ]
    );
    assert_eq!([once("new"), once("enter"), once("exit"), once("close")], [3, 6, 6, 3], "{events:?}");
}

#[test]
fn spans_by_hand_and_scopes_are_emitted_and_their_attributes_are_learnt() {
    let _emitting = Emitting::start(Sampler::AlwaysOn);
    let by_hand = || {
        let mut span = Span::builder("Emit/Hand", Kind::Client).start();
        span.in_scope(|| drop(tc_scope!("Emit/Scope")));
        span.set(tracecast::keys::size_bytes, 3_u64);
    };
    let events = seen(|| {
        by_hand();
        by_hand();
    });
    let first = [
        "new Emit/Hand",
        "enter Emit/Hand",
        "new Emit/Scope in Emit/Hand",
        "enter Emit/Scope",
        "exit Emit/Scope",
        "close Emit/Scope",
        "exit Emit/Hand",
    ];
    assert_eq!(events[..7], first);
    assert_eq!(events[7], "close Emit/Hand", "nobody has declared the field");
    assert_eq!(events[8..15], first);
    assert_eq!(events[15..], ["record tc.size.bytes=3 on Emit/Hand", "close Emit/Hand"]);
}

/// Leaves a scope behind, which is cut off at the end.
#[tc_span("Emit/Panics")]
fn leaks_and_panics() {
    std::mem::forget(tc_scope!("Emit/Leaked"));
    panic!("on purpose");
}

#[test]
fn guards_in_any_order_and_panics_leave_nothing_entered() {
    let _emitting = Emitting::start(Sampler::AlwaysOn);
    let events = seen(|| {
        let (first, second) = (tc_scope!("Emit/First"), tc_scope!("Emit/Second"));
        drop(first);
        drop(second);
        std::panic::catch_unwind(leaks_and_panics).unwrap_err();
        assert!(tracing::Span::current().is_none());
    });
    let count = |what: &str| events.iter().filter(|event| event.starts_with(what)).count();
    // The span that was leaked keeps its parent from being closed.
    assert_eq!([count("new"), count("enter"), count("exit"), count("close")], [4, 4, 4, 2], "{events:?}");
}

#[test]
fn our_own_layer_does_not_record_them_again() {
    let emitting = Emitting::start(Sampler::AlwaysOn);
    let subscriber = tracing_subscriber::registry().with(layer().with_events());
    tracing::subscriber::with_default(subscriber, || {
        tracing::info_span!("theirs").in_scope(|| {
            let _ours = tc_scope!("Emit/Outer");
            let current = tracing::Span::current();
            assert_eq!(current.metadata().map(|metadata| metadata.name()), Some("Emit/Outer"));
            drop(tracing::info_span!("inner"));
            drop(tracing::info_span!(parent: &current, "explicit"));
            load("llama");
        });
    });
    let tree = "theirs(Emit/Outer(Emit/Load(Emit/Read),explicit,inner))";
    assert_eq!(emitting.0.tree(), tree);
}

#[test]
fn spans_of_tracing_are_not_sent_back() {
    let _emitting = Emitting::start(Sampler::AlwaysOn);
    let seen = Seen::default();
    let subscriber = tracing_subscriber::registry().with(layer()).with(seen.clone());
    tracing::subscriber::with_default(subscriber, || {
        tracing::info_span!("theirs").in_scope(|| Context::current().run(|| ()));
        let future = async { drop(tc_scope!("Emit/Scope")) }.instrument(tracing::info_span!("task"));
        futures::executor::block_on(future);
    });
    let new: Vec<_> = seen.take().into_iter().filter(|event| event.starts_with("new")).collect();
    assert_eq!(new, ["new theirs", "new task", "new Emit/Scope in task"]);
}

#[test]
fn unsampled_spans_are_not_emitted_and_calls_keep_ids_of_their_own() {
    let _emitting = Emitting::start(Sampler::AlwaysOff);
    let events = seen(|| {
        let parent = Context::remote(TraceId(3), SpanId(4), false);
        parent.run(|| {
            let _call = tc_scope!("Emit/Call", kind = client);
            let current = Context::current();
            assert!(current.trace_id() == TraceId(3) && current.span_id() != SpanId(4));
        });
        load("llama");
    });
    assert_eq!(events, [""; 0]);
}

/// A subscriber that makes spans of ours, and panics.
struct Wild;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Wild {
    fn on_new_span(&self, _: &Attributes<'_>, _: &Id, _: LayerContext<'_, S>) {
        load("inside");
    }

    fn on_enter(&self, _: &Id, _: LayerContext<'_, S>) {
        load("inside");
    }

    fn on_exit(&self, _: &Id, _: LayerContext<'_, S>) {
        panic!("on purpose");
    }

    fn on_close(&self, _: Id, _: LayerContext<'_, S>) {
        panic!("on purpose");
    }
}

#[test]
fn a_wild_subscriber_does_no_harm() {
    let emitting = Emitting::start(Sampler::AlwaysOn);
    tracing::subscriber::with_default(tracing_subscriber::registry().with(Wild), fail_twice);
    let tree = emitting.0.tree();
    assert_eq!(tree.matches("Emit/Fail").count(), 2, "{tree}");
    assert_eq!(seen(fail_twice).len(), 10);
}

fn fail_twice() {
    fail().unwrap_err();
    fail().unwrap_err();
}

#[test]
fn off_and_under_filters_nothing_is_emitted() {
    let emitting = Emitting::start(Sampler::AlwaysOn);
    let filtered = Seen::default();
    let warnings = filtered.clone().with_filter(tracing_subscriber::filter::LevelFilter::WARN);
    tracing::subscriber::with_default(tracing_subscriber::registry().with(warnings), || load("llama"));
    assert_eq!(filtered.take(), [""; 0]);
    set_emitting(false);
    assert_eq!(seen(|| load("llama")), [""; 0]);
    assert_eq!(emitting.0.tree(), "Emit/Load(Emit/Read),Emit/Load(Emit/Read)");
}

#[test]
fn a_setting_switches_it_on() {
    let _turn = turn();
    let variables = |emit: &'static str| {
        Config::from_variables(move |name| match name {
            "OTEL_TRACES_EXPORTER" => Some("console".to_owned()),
            "TC_TRACING_EMIT" => Some(emit.to_owned()),
            _ => None,
        })
    };
    let emitted_by = |config: Config| {
        let telemetry = config.init().unwrap();
        let seen = seen(|| load("llama"));
        drop(telemetry);
        seen.len()
    };
    assert_ne!(emitted_by(variables("true")), 0);
    assert_eq!(emitted_by(variables("false")), 0);
    assert_ne!(emitted_by(variables("false").with_tracing_emit(true)), 0);
    set_emitting(false);
}

#[test]
fn spans_of_many_threads_stay_apart() {
    let emitting = Emitting::start(Sampler::AlwaysOn);
    let seen = Seen::default();
    let dispatch = tracing::Dispatch::new(tracing_subscriber::registry().with(seen.clone()));
    let run = || tracing::dispatcher::with_default(&dispatch, || (0..50).for_each(|_| load("llama")));
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(run))));
    let events = seen.take();
    let count = |what: &str| events.iter().filter(|event| event.starts_with(what)).count();
    assert_eq!([count("new"), count("enter"), count("exit"), count("close")], [400; 4]);
    assert_eq!(count("new Emit/Read in Emit/Load"), 200);
    assert_eq!(emitting.0.spans().len(), 400);
}
