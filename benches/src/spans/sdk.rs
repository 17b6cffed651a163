//! The OpenTelemetry SDK, used manually: a span that is current while its work runs, as with `Tracer::in_span`.

use std::any::Any;
use std::hint::black_box;
use std::sync::OnceLock;

use opentelemetry::trace::{FutureExt as _, TraceContextExt as _, Tracer as _, TracerProvider as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::SdkTracer;

use super::library::{Library, Phase};
use crate::peers;
use crate::work::Pause;

pub struct Sdk;

static TRACER: OnceLock<SdkTracer> = OnceLock::new();

fn tracer() -> &'static SdkTracer {
    TRACER.get().expect("started before")
}

impl Library for Sdk {
    const NAME: &'static str = "opentelemetry_sdk";

    /// "Off" means without an SDK: manual code leaves the provider out, and then calls cost nothing measurable.
    fn start(phase: Phase) -> Option<Box<dyn Any>> {
        let provider = match phase {
            Phase::Off => return None,
            Phase::Unsampled => peers::sdk::unsampled_spans(),
            Phase::Recorded => peers::sdk::spans(),
        };
        TRACER.get_or_init(|| provider.tracer("bench"));
        Some(Box::new(()))
    }

    fn rooted(inside: &mut dyn FnMut()) {
        tracer().in_span("Bench/Root", |_| inside());
    }

    /// The batch processor's queue has room for a round, so no spans are dropped.
    fn settle() {
        peers::sdk::flush();
    }

    #[inline(never)]
    fn zero(x: u64) -> u64 {
        tracer().in_span("Bench/Sync", |_| black_box(x).wrapping_mul(3))
    }

    #[inline(never)]
    fn two(x: u64) -> u64 {
        let _current = with("Bench/Two", [KeyValue::new("bench.one", "a"), KeyValue::new("bench.two", "b")]).attach();
        black_box(x).wrapping_mul(3)
    }

    #[inline(never)]
    fn four(x: u64) -> u64 {
        let attributes = [("bench.one", "a"), ("bench.two", "b"), ("bench.three", "c"), ("bench.four", "d")];
        let _current = with("Bench/Four", attributes.map(|(key, value)| KeyValue::new(key, value))).attach();
        black_box(x).wrapping_mul(3)
    }

    #[inline(never)]
    fn strings(x: u64, first: &str, second: &str) -> u64 {
        let attributes = [("bench.first", first), ("bench.second", second)];
        let _current =
            with("Bench/Strings", attributes.map(|(key, text)| KeyValue::new(key, text.to_owned()))).attach();
        black_box(x).wrapping_mul(3)
    }

    #[inline(never)]
    fn event(x: u64) -> u64 {
        tracer().in_span("Bench/Event", |context| {
            context.span().add_event("bench.event", vec![KeyValue::new("bench.one", "a")]);
            black_box(x).wrapping_mul(3)
        })
    }

    #[inline(never)]
    fn branch(x: u64) -> u64 {
        tracer().in_span("Bench/Branch", |_| (0..10).map(|n| Self::zero(x + n)).sum())
    }

    #[inline(never)]
    fn tree(x: u64) -> u64 {
        tracer().in_span("Bench/Tree", |_| (0..9).map(|n| Self::branch(x + n)).sum())
    }

    fn chain(x: u64) -> impl Future<Output = u64> {
        let chain = async move {
            let mut sum = 0;
            for n in 0..10 {
                sum += Self::task(x + n).await;
            }
            sum
        };
        chain.with_context(with("Bench/Chain", []))
    }

    #[inline(never)]
    fn task(x: u64) -> impl Future<Output = u64> + Send + 'static {
        let wait = async move {
            Pause::default().await;
            black_box(x)
        };
        wait.with_context(with("Bench/Link", []))
    }
}

/// Starts a span below the current one; it ends with its context.
fn with<const N: usize>(name: &'static str, attributes: [KeyValue; N]) -> Context {
    let span = tracer().span_builder(name).with_attributes(attributes).start(tracer());
    Context::current_with_span(span)
}
