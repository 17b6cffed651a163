//! Spans of `tracing` in our traces, by our layer.

#![cfg(feature = "tracing")]

use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1::Span as Decoded;
use tracecast::__bench::ExternalSpans;
use tracecast::prelude::*;
use tracecast::tracing_spans::{SpanLayer, layer};
use tracecast::{Context, Kind, Sampler, Span};
use tracing::Instrument as _;
use tracing::field::Empty;
use tracing::{Level, Metadata};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};

use crate::telemetry::Telemetry;

fn telemetry(sampler: Sampler) -> Telemetry {
    Telemetry::start(sampler, || ExternalSpans::start(1 << 24))
}

fn with<R>(layer: SpanLayer, f: impl FnOnce() -> R) -> R {
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), f)
}

fn named<'a>(spans: &'a [Decoded], name: &str) -> &'a Decoded {
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no {name} in {spans:?}"))
}

fn value<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a Value> {
    let found: Vec<_> = attributes.iter().filter(|attribute| attribute.key == key).collect();
    assert!(found.len() <= 1, "{key} stands once");
    found.first()?.value.as_ref().and_then(|AnyValue { value }| value.as_ref())
}

fn text(text: &str) -> Option<Value> {
    Some(Value::StringValue(text.to_owned()))
}

#[test]
fn fields_are_attributes_of_their_types() {
    let telemetry = telemetry(Sampler::AlwaysOn);
    with(layer(), || {
        let span = tracing::info_span!(
            "fields",
            flag = true,
            small = -3,
            large = u64::MAX,
            ratio = 0.5,
            text = "t",
            shown = %7,
            debugged = ?Some(1),
            later = Empty,
            never = Empty,
        );
        span.record("later", 5);
        span.record("later", 6);
    });
    let spans = telemetry.spans();
    let [span] = &spans[..] else { panic!("{spans:?}") };
    let expected = [
        ("flag", Some(Value::BoolValue(true))),
        ("small", Some(Value::IntValue(-3))),
        ("large", text("18446744073709551615")),
        ("ratio", Some(Value::DoubleValue(0.5))),
        ("text", text("t")),
        ("shown", text("7")),
        ("debugged", text("Some(1)")),
        ("later", Some(Value::IntValue(6))),
        ("never", None),
        ("target", text("interop::tracing_layer")),
        ("code.file.path", text(file!())),
    ];
    for (key, expected) in expected {
        assert_eq!(value(&span.attributes, key), expected.as_ref(), "{key}");
    }
    assert!(span.start_time_unix_nano > 0 && span.end_time_unix_nano >= span.start_time_unix_nano);
    assert_eq!((span.kind, span.flags), (1, 0x101));
}

#[test]
fn fields_of_opentelemetry_say_name_kind_and_status() {
    let telemetry = telemetry(Sampler::AlwaysOn);
    with(layer(), || {
        drop(tracing::info_span!("a", otel.name = "named", otel.kind = "Client", otel.status_code = "OK"));
        let span = tracing::info_span!("b", otel.kind = ?Kind::Server, otel.status_code = Empty, otel.status_description = Empty);
        span.record("otel.status_description", "lost");
        span.record("otel.status_code", "error");
        drop(tracing::info_span!("c", otel.status_code = "error", otel.kind = "nonsense"));
    });
    let spans = telemetry.spans();
    let of = |name: &str| {
        let span = named(&spans, name);
        let status = span.status.clone().unwrap_or_default();
        assert!(span.attributes.iter().all(|attribute| !attribute.key.starts_with("otel.")), "{span:?}");
        (span.kind, status.code, status.message)
    };
    assert_eq!(of("named"), (3, 1, String::new()));
    assert_eq!(of("b"), (2, 2, "lost".to_owned()));
    assert_eq!(of("c"), (1, 2, String::new()));
}

#[tc_span("Ours/Inner")]
fn ours() {
    drop(tracing::info_span!("innermost"));
}

#[test]
fn spans_nest_and_explicit_parents_count() {
    let telemetry = telemetry(Sampler::AlwaysOn);
    with(layer(), || {
        let outer = tracing::info_span!("outer");
        outer.in_scope(|| {
            ours();
            tracing::info_span!(parent: None, "root").in_scope(ours);
        });
        // Entered no longer, and still a parent.
        drop(tracing::info_span!(parent: &outer, "explicit"));
        drop(outer);
    });
    let below = "Ours/Inner(innermost)";
    assert_eq!(telemetry.tree(), format!("outer({below},explicit),root({below})"));
}

#[test]
fn leaving_in_the_wrong_order_and_entering_twice_do_no_harm() {
    let telemetry = telemetry(Sampler::AlwaysOn);
    with(layer(), || {
        let (first, second) = (tracing::info_span!("first"), tracing::info_span!("second"));
        let (a, b, again) = (first.enter(), second.enter(), first.enter());
        drop(tracing::info_span!("in first"));
        // Of two times it is left the later one, as the registry has it.
        drop(a);
        drop(tracing::info_span!("in second"));
        drop(again);
        drop(tracing::info_span!("still in second"));
        drop(b);
        assert!(!Context::current().is_valid());
        drop(tracing::info_span!("in none"));
    });
    assert_eq!(telemetry.tree(), "first(in first),in none,second(in second,still in second)");
}

#[test]
fn futures_take_their_spans_along() {
    let telemetry = telemetry(Sampler::AlwaysOn);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    with(layer(), || {
        runtime.block_on(async {
            let work = |name: &'static str| {
                async move {
                    tokio::task::yield_now().await;
                    Span::builder(name, Kind::Internal).start().end();
                    tokio::task::yield_now().await;
                    ours();
                }
                .instrument(tracing::info_span!("task", otel.name = format!("task {name}")))
            };
            futures::join!(work("a"), work("b"), work("c"));
        });
    });
    let below = "Ours/Inner(innermost)";
    assert_eq!(telemetry.tree(), format!("task a({below},a),task b({below},b),task c({below},c)"));
}

#[test]
fn what_follows_is_linked() {
    let telemetry = telemetry(Sampler::AlwaysOn);
    with(layer(), || {
        let (cause, effect) = (tracing::info_span!("cause"), tracing::info_span!("effect"));
        effect.follows_from(&cause);
        effect.follows_from(&effect);
    });
    let spans = telemetry.spans();
    let links: Vec<_> = named(&spans, "effect").links.iter().map(|link| link.span_id.clone()).collect();
    assert_eq!(links, [named(&spans, "cause").span_id.clone(), named(&spans, "effect").span_id.clone()]);
}

#[test]
fn events_are_recorded_where_they_are_asked_for() {
    let telemetry = telemetry(Sampler::AlwaysOn);
    for layer in [layer(), layer().with_events()] {
        with(layer, || tracing::info_span!("span").in_scope(|| tracing::warn!(attempt = 2, "tried {}", "again")));
    }
    let spans = telemetry.spans();
    let mut counts: Vec<_> = spans.iter().map(|span| span.events.len()).collect();
    counts.sort_unstable();
    assert_eq!(counts, [0, 1]);
    let event = spans.iter().find_map(|span| span.events.first()).unwrap();
    assert_eq!(event.name, "tried again");
    assert_eq!(value(&event.attributes, "attempt"), Some(&Value::IntValue(2)));
    assert_eq!(value(&event.attributes, "level"), text("WARN").as_ref());
}

#[test]
fn a_field_named_message_is_kept() {
    let telemetry = telemetry(Sampler::AlwaysOn);
    with(layer().with_events(), || {
        tracing::info_span!("span", message = "of the span")
            .in_scope(|| tracing::warn!(message = "inner", attempt = 2, "outer"));
    });
    let spans = telemetry.spans();
    let span = named(&spans, "span");
    assert_eq!(value(&span.attributes, "message"), text("of the span").as_ref());
    assert_eq!(span.events[0].name, "outer");
    assert_eq!(value(&span.events[0].attributes, "message"), text("inner").as_ref());
}

#[test]
fn unsampled_and_off_nothing_is_recorded() {
    let unsampled = telemetry(Sampler::AlwaysOff);
    with(layer(), || {
        tracing::info_span!("unsampled").in_scope(|| {
            let context = Context::current();
            assert!(context.is_valid() && !context.is_sampled());
            ours();
        });
    });
    assert_eq!((unsampled.tree(), unsampled.counts()), (String::new(), [0, 0, 0]));
    let _turn = unsampled.stop();
    with(layer(), || tracing::info_span!("off").in_scope(|| assert!(!Context::current().is_valid())));
}

#[test]
fn filters_are_those_of_the_subscriber() {
    let telemetry = telemetry(Sampler::AlwaysOn);
    let coarse = tracing_subscriber::filter::filter_fn(|metadata: &Metadata<'_>| *metadata.level() <= Level::INFO);
    let subscriber = tracing_subscriber::registry().with(layer().with_filter(coarse));
    tracing::subscriber::with_default(subscriber, || {
        tracing::info_span!("coarse").in_scope(|| tracing::debug_span!("fine").in_scope(ours));
    });
    assert_eq!(telemetry.tree(), "coarse(Ours/Inner(innermost))");
}

#[test]
fn a_layer_that_was_added_twice_makes_each_span_once() {
    let telemetry = telemetry(Sampler::AlwaysOn);
    let subscriber = tracing_subscriber::registry().with(layer()).with(layer());
    tracing::subscriber::with_default(subscriber, || tracing::info_span!("once").in_scope(ours));
    assert_eq!(telemetry.tree(), "once(Ours/Inner(innermost))");
}

#[test]
fn a_field_that_panics_or_makes_spans_itself_does_no_harm() {
    struct Panics;
    impl std::fmt::Debug for Panics {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("on purpose")
        }
    }
    struct Traces;
    impl std::fmt::Debug for Traces {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            tracing::info_span!("while printing").in_scope(|| f.write_str("printed"))
        }
    }
    let telemetry = telemetry(Sampler::AlwaysOn);
    with(layer(), || {
        let span = tracing::info_span!("span", first = 1, panics = ?Panics, traces = Empty);
        span.record("traces", tracing::field::debug(Traces));
        span.in_scope(ours);
    });
    assert_eq!(telemetry.tree(), "span(Ours/Inner(innermost)),while printing");
}

#[test]
fn inside_a_capture_they_are_transparent() {
    let telemetry = telemetry(Sampler::AlwaysOn);
    let captured = tracecast::testing::capture(|| {
        with(layer(), || {
            tracing::info_span!("outside").in_scope(|| {
                Span::builder("Capture/Outer", Kind::Internal).start().in_scope(|| {
                    tracing::info_span!("between").in_scope(ours);
                });
            });
        });
    });
    captured.assert_outline(
        "
        Capture/Outer
          Ours/Inner
    ",
    );
    assert_eq!((telemetry.tree(), telemetry.counts()), (String::new(), [0, 0, 0]));
}

#[test]
fn a_full_queue_drops_and_counts() {
    let telemetry = Telemetry::start(Sampler::AlwaysOn, || ExternalSpans::start(5_000));
    with(layer(), || (0..100).for_each(|_| drop(tracing::info_span!("many"))));
    let [ended, dropped, waiting] = telemetry.counts();
    assert!(ended == 100 && dropped > 0 && dropped + waiting == ended, "{:?}", telemetry.counts());
    assert_eq!(telemetry.spans().len() as u64, waiting);
}
