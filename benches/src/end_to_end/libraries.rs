//! The same spans with each library: one root per burst, and below it spans with two attributes, a number and a string
//! of 36 bytes that is known at run time only.

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

/// The time limit for a library's flush.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many cancelled roots are made for spans that are left in a channel of fastrace.
const CHANCES: usize = 8;

/// A library that sends spans to a receiver.
pub trait Library {
    /// Records one span without attributes, and `spans` with two attributes below it.
    fn burst(&self, text: &str, spans: u64);

    /// Flushes the library.
    fn flush(&self);

    /// Shuts the library down; returns the number of dropped spans, if the library reports it.
    fn finish(self: Box<Self>) -> Option<u64>;
}

pub const OURS: &str = "tracecast";
pub const SDK: &str = "opentelemetry_sdk";
const TRACING: &str = "tracing-opentelemetry";
const FASTRACE: &str = "fastrace";

/// The libraries by name.
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

/// Manual spans, which are current while their work runs.
struct Sdk {
    tracer: SdkTracer,
    provider: SdkTracerProvider,
}

impl Sdk {
    #[inline(never)]
    fn two(&self, text: &str, x: u64) -> u64 {
        // A value is `'static` or owned; there are no unsigned values.
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
        // Spans that could not be sent are missing at the receiver, which counts.
        let _ = self.provider.shutdown_with_timeout(PATIENCE);
        Some(peers::said::dropped())
    }
}

/// The attribute of `tracing`; its layer adds source location and thread, as by default.
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

/// Local spans, its fastest kind. Properties are texts.
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

    /// fastrace does not count dropped spans. Spans that did not fit into a thread's channel wait for the thread's next
    /// span, and a flush does not send them; a few cancelled roots trigger that.
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
