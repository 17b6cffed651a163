//! What the runtime's functions are called for a span, and what they are called where there are metrics.

use proc_macro2::{Ident, Span as Site};
use quote::format_ident;

use super::super::telemetry::Telemetry;

/// What is wrapped around a body, or around what it makes.
#[derive(Clone, Copy)]
pub(super) enum Wrapper {
    /// The closure with the body of a call.
    Body,
    /// The call of that closure while telemetry is on.
    Run,
    /// A guard beside the body.
    Scope,
    Future,
    Stream,
    /// A future that makes a stream.
    StreamFuture,
    /// A future whose type is fixed.
    FixedFuture,
    /// A stream whose type is fixed.
    FixedStream,
}

impl Wrapper {
    /// The name of the type or of the function.
    pub(super) fn name(self, telemetry: &Telemetry) -> &'static str {
        let (plain, measured) = match self {
            Self::Body => ("body", "measured_body"),
            Self::Run => ("traced", "measured"),
            Self::Scope => ("Scope", "MeasuredScope"),
            Self::Future => ("Instrumented", "Measured"),
            Self::Stream => ("InstrumentedStream", "MeasuredStream"),
            Self::StreamFuture => ("InstrumentedStreamFuture", "MeasuredStreamFuture"),
            Self::FixedFuture => ("rewrap", "rewrap_measured"),
            Self::FixedStream => ("rewrap_stream", "rewrap_stream_measured"),
        };
        if telemetry.metrics.is_some() { measured } else { plain }
    }

    /// The same as a word of generated code.
    pub(super) fn ident(self, telemetry: &Telemetry) -> Ident {
        Ident::new(self.name(telemetry), Site::mixed_site())
    }
}

/// The variant of `function`, which begins a span, for what is begun here.
pub(super) fn beginning(function: &str, telemetry: &Telemetry, site: Site) -> Ident {
    let (measured, under) = match (&telemetry.name, &telemetry.metrics) {
        (Some(_), None) => ("", telemetry.options.parent.is_some()),
        (Some(_), Some(_)) => ("_measured", telemetry.options.parent.is_some()),
        (None, _) => ("_metric", false),
    };
    let under = if under { "_under" } else { "" };
    format_ident!("{function}{measured}{under}", span = site)
}
