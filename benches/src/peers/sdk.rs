//! The OpenTelemetry SDK: providers for the process with a batch processor and a periodic reader, as its documentation
//! recommends for production, and W3C propagation.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::Duration;

use opentelemetry::global;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider, Temporality};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider, SpanData, SpanExporter, TracerProviderBuilder};

#[derive(Debug)]
struct Discard;

impl SpanExporter for Discard {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        super::saw(batch.len());
        black_box(batch);
        Ok(())
    }
}

impl PushMetricExporter for Discard {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        black_box(metrics);
        Ok(())
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }

    fn temporality(&self) -> Temporality {
        Temporality::Cumulative
    }
}

/// The default sampler follows the parent and samples roots. A process has one provider.
pub fn spans() -> SdkTracerProvider {
    install(SdkTracerProvider::builder().with_batch_exporter(Discard))
}

/// Roots are not sampled.
pub fn unsampled_spans() -> SdkTracerProvider {
    let sampler = Sampler::ParentBased(Box::new(Sampler::AlwaysOff));
    install(SdkTracerProvider::builder().with_batch_exporter(Discard).with_sampler(sampler))
}

static PROVIDER: OnceLock<SdkTracerProvider> = OnceLock::new();

/// Flushes the batch processor, if there is one.
pub fn flush() {
    let _ = PROVIDER.get().map(SdkTracerProvider::force_flush);
}

fn install(builder: TracerProviderBuilder) -> SdkTracerProvider {
    let provider = PROVIDER.get_or_init(|| builder.build()).clone();
    global::set_tracer_provider(provider.clone());
    global::set_text_map_propagator(TraceContextPropagator::new());
    provider
}

pub fn metrics() -> SdkMeterProvider {
    let reader = PeriodicReader::builder(Discard).build();
    let provider = SdkMeterProvider::builder().with_reader(reader).build();
    global::set_meter_provider(provider.clone());
    provider
}
