//! The same spans by each library: one root for a burst, and below it spans with two attributes, a string of 36 bytes that is
//! known at run time only, and a number.

use std::hint::black_box;
use std::time::Duration;

use ::fastrace::local::LocalSpan;
use ::fastrace::prelude::{Span, SpanContext};
use ::tracing::{info_span, instrument};
use opentelemetry::trace::{TraceContextExt as _, Tracer as _, TracerProvider as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tracecast::config::Config;
use tracecast::prelude::*;

use super::receiver::Receiver;
use crate::{peers, work};

/// As long as any of them may take to hand on what it has.
const PATIENCE: Duration = Duration::from_secs(30);
/// For what is left in a channel of fastrace.
const CHANCES: usize = 8;

/// A library that sends spans to a receiver.
pub trait Library {
    /// One span without attributes, and so many below it with two.
    fn burst(&self, text: &str, spans: u64);

    /// Hands on what it has.
    fn flush(&self);

    /// Hands on what it has and ends; gives how many spans it says it dropped, if it says so at all.
    fn finish(self: Box<Self>) -> Option<u64>;
}

pub const OURS: &str = "tracecast";
pub const SDK: &str = "opentelemetry_sdk";
const TRACING: &str = "tracing-opentelemetry";
const FASTRACE: &str = "fastrace";

/// By their names.
pub const ALL: [&str; 4] = [OURS, FASTRACE, SDK, TRACING];

/// Starts one of them for the whole process.
pub fn start(name: &str, receiver: &Receiver) -> Box<dyn Library> {
    match name {
        OURS => {
            let config = Config::new().with_endpoint(receiver.url().parse().expect("an address"));
            Box::new(Tracecast(config.init().expect("telemetry starts")))
        }
        SDK => {
            peers::tracing::listen();
            let provider = peers::otlp::sdk(&receiver.url());
            Box::new(Sdk { tracer: provider.tracer("bench"), provider })
        }
        TRACING => {
            let provider = peers::otlp::sdk(&receiver.url());
            peers::tracing::install_and_listen(&provider);
            Box::new(Tracing(provider))
        }
        FASTRACE => {
            peers::otlp::fastrace(&receiver.url());
            Box::new(Fastrace)
        }
        _ => panic!("{name} is none of {ALL:?}"),
    }
}

struct Tracecast(tracecast::Guard);

impl Library for Tracecast {
    fn burst(&self, text: &str, spans: u64) {
        work::root(|| {
            for x in 0..spans {
                black_box(two(black_box(text), black_box(x)));
            }
        });
    }

    fn flush(&self) {
        self.0.flush(PATIENCE);
    }

    fn finish(self: Box<Self>) -> Option<u64> {
        Some(self.0.shutdown(PATIENCE).spans_dropped)
    }
}

#[inline(never)]
#[tc_span("Bench/Two", attrs(tracecast::keys::tensor::artifact = text, tracecast::keys::size_bytes = x))]
fn two(text: &str, x: u64) -> u64 {
    black_box(x)
}

/// Spans by hand, which are current while their work runs.
struct Sdk {
    tracer: SdkTracer,
    provider: SdkTracerProvider,
}

impl Sdk {
    #[inline(never)]
    fn two(&self, text: &str, x: u64) -> u64 {
        // A value is `'static` or owned, and there are no unsigned ones.
        let attributes =
            [KeyValue::new("tc.artifact.id", text.to_owned()), KeyValue::new("tc.size.bytes", x.cast_signed())];
        let span = self.tracer.span_builder("Bench/Two").with_attributes(attributes).start(&self.tracer);
        let _current = Context::current_with_span(span).attach();
        black_box(x)
    }
}

impl Library for Sdk {
    fn burst(&self, text: &str, spans: u64) {
        self.tracer.in_span("Bench/Root", |_| {
            for x in 0..spans {
                black_box(self.two(black_box(text), black_box(x)));
            }
        });
    }

    fn flush(&self) {
        let _ = self.provider.force_flush();
    }

    fn finish(self: Box<Self>) -> Option<u64> {
        // What could not be sent is missing at the receiver, where it is counted.
        let _ = self.provider.shutdown_with_timeout(PATIENCE);
        Some(peers::said::dropped())
    }
}

/// The attribute of `tracing`; its layer adds where in the code, and on which thread, as it does by default.
struct Tracing(SdkTracerProvider);

impl Library for Tracing {
    fn burst(&self, text: &str, spans: u64) {
        info_span!("Bench/Root").in_scope(|| {
            for x in 0..spans {
                black_box(traced(black_box(text), black_box(x)));
            }
        });
    }

    fn flush(&self) {
        let _ = self.0.force_flush();
    }

    fn finish(self: Box<Self>) -> Option<u64> {
        let _ = self.0.shutdown_with_timeout(PATIENCE);
        Some(peers::said::dropped())
    }
}

#[inline(never)]
#[instrument(name = "Bench/Two", skip_all, fields(tc.artifact.id = text, tc.size.bytes = x))]
fn traced(text: &str, x: u64) -> u64 {
    black_box(x)
}

/// Local spans: the fastest that it has. Its properties are texts.
struct Fastrace;

impl Library for Fastrace {
    fn burst(&self, text: &str, spans: u64) {
        let root = Span::root("Bench/Root", SpanContext::random());
        let _parent = root.set_local_parent();
        for x in 0..spans {
            black_box(local(black_box(text), black_box(x)));
        }
    }

    fn flush(&self) {
        ::fastrace::flush();
    }

    /// It does not count what it drops. What did not fit into a thread's channel waits there for the thread's next span, and a
    /// flush does not see it: a few roots that are cancelled give it another chance.
    fn finish(self: Box<Self>) -> Option<u64> {
        ::fastrace::flush();
        for _ in 0..CHANCES {
            Span::root("Bench/Root", SpanContext::random()).cancel();
            ::fastrace::flush();
        }
        None
    }
}

#[inline(never)]
fn local(text: &str, x: u64) -> u64 {
    let properties = || [("tc.artifact.id", text.to_owned()), ("tc.size.bytes", x.to_string())];
    let _span = LocalSpan::enter_with_local_parent("Bench/Two").with_properties(properties);
    black_box(x)
}
