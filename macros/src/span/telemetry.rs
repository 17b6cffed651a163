//! The telemetry of a function: a span, metrics, or both.

use proc_macro2::TokenStream;

use super::metric::Metrics;
use super::options::Options;

/// A span, metrics, or both; never neither.
pub(crate) struct Telemetry {
    /// The options of the span, and those that it shares with the metrics.
    pub(crate) options: Options,
    /// The name of the span: `Component/Operation`. For a database call, its name if known at compile time, else `db`. `None` if
    /// there are only metrics.
    pub(crate) name: Option<String>,
    pub(crate) metrics: Option<Metrics>,
}

impl Telemetry {
    /// Creates the telemetry of a span without metrics.
    pub(crate) fn span(options: Options, name: String) -> Self {
        Self { options, name: Some(name), metrics: None }
    }

    /// Returns how errors refer to this telemetry: `a span`, `a metric`, or `a span or metric`.
    pub(crate) fn subject(&self) -> &'static str {
        match (&self.name, &self.metrics) {
            (Some(_), None) => "a span",
            (Some(_), Some(_)) => "a span or metric",
            (None, _) => "a metric",
        }
    }

    /// Returns every expression of the user's that is evaluated at the call.
    pub(crate) fn expressions(&self) -> TokenStream {
        let mut all = self.options.expressions();
        all.extend(self.metrics.as_ref().map(Metrics::expressions));
        all
    }

    /// Returns whether attributes of the span or labels of the metrics are derived from the result.
    pub(crate) fn uses_result(&self) -> bool {
        !self.options.result.is_empty() || self.metrics.as_ref().is_some_and(|metrics| !metrics.results.is_empty())
    }
}
