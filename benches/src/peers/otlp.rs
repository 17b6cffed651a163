//! The same peers with OpenTelemetry's OTLP exporter, over HTTP to a receiver: each as in its documentation, with its
//! defaults.

use std::borrow::Cow;

use fastrace::collector::Config;
use fastrace_opentelemetry::OpenTelemetryReporter;
use opentelemetry::{InstrumentationScope, global};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;

/// As in opentelemetry-otlp's quickstart: protobuf, over the blocking client of reqwest, the default.
fn exporter(url: &str) -> SpanExporter {
    SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(format!("{url}/v1/traces"))
        .build()
        .expect("an exporter")
}

fn resource() -> Resource {
    Resource::builder().with_service_name("bench").build()
}

/// The SDK's batch processor, on its own thread: a queue of 2,048 spans, batches of 512.
pub fn sdk(url: &str) -> SdkTracerProvider {
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter(url)).with_resource(resource()).build();
    global::set_tracer_provider(provider.clone());
    provider
}

/// As in the README of fastrace-opentelemetry, with HTTP instead of gRPC.
pub fn fastrace(url: &str) {
    let scope = InstrumentationScope::builder("bench").build();
    let reporter = OpenTelemetryReporter::new(exporter(url), Cow::Owned(resource()), scope);
    ::fastrace::set_reporter(reporter, Config::default());
}
