//! `tracing` with tracing-opentelemetry on the SDK, as the README of the latter shows it.

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;

/// Spans of these targets and no others: hyper and h2 have some too, on lower levels than a service would switch on.
pub fn install(provider: &SdkTracerProvider) {
    let targets = Targets::new()
        .with_default(LevelFilter::INFO)
        // The layers' own documentation says that these are needed.
        .with_target("tower_http", LevelFilter::DEBUG)
        .with_target("otel::tracing", LevelFilter::TRACE);
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("bench"));
    let subscriber = tracing_subscriber::registry().with(targets).with(layer);
    tracing::subscriber::set_global_default(subscriber).expect("no other subscriber");
}
