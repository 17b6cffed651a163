//! The same peers with the OTLP exporter of OpenTelemetry, over HTTP to a receiver: each as its own documentation shows it,
//! with the defaults of each.

use std::borrow::Cow;

use fastrace::collector::Config;
use fastrace_opentelemetry::OpenTelemetryReporter;
use opentelemetry::{InstrumentationScope, global};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;

/// As the quickstart of opentelemetry-otlp has it: protobuf, over the blocking client of reqwest, which is the default.
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

/// The batch processor of the SDK, on a thread of its own: 2,048 spans in its queue, 512 in a batch.
pub fn sdk(url: &str) -> SdkTracerProvider {
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter(url)).with_resource(resource()).build();
    global::set_tracer_provider(provider.clone());
    provider
}

/// As the README of fastrace-opentelemetry has it, with HTTP instead of gRPC.
pub fn fastrace(url: &str) {
    let scope = InstrumentationScope::builder("bench").build();
    let reporter = OpenTelemetryReporter::new(exporter(url), Cow::Owned(resource()), scope);
    ::fastrace::set_reporter(reporter, Config::default());
}
