//! `tracing` with tracing-opentelemetry on the SDK, as in the latter's README.

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;

use super::said::Said;

pub fn install(provider: &SdkTracerProvider) {
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("bench"));
    let subscriber = tracing_subscriber::registry().with(targets()).with(layer);
    tracing::subscriber::set_global_default(subscriber).expect("no other subscriber");
}

/// The same, with a layer for the SDK's own events.
pub fn install_and_listen(provider: &SdkTracerProvider) {
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("bench"));
    let subscriber = tracing_subscriber::registry().with(targets()).with(layer).with(Said);
    tracing::subscriber::set_global_default(subscriber).expect("no other subscriber");
}

/// No spans, only the SDK's own events.
pub fn listen() {
    let subscriber = tracing_subscriber::registry().with(LevelFilter::WARN).with(Said);
    tracing::subscriber::set_global_default(subscriber).expect("no other subscriber");
}

/// Spans of these targets only: hyper and h2 also have spans, at lower levels than a service would enable.
fn targets() -> Targets {
    Targets::new()
        .with_default(LevelFilter::INFO)
        // The layers' documentation requires these.
        .with_target("tower_http", LevelFilter::DEBUG)
        .with_target("otel::tracing", LevelFilter::TRACE)
}
