//! Finds options that contradict each other or are in the wrong place.

use super::{Cover, Options, Place};
use crate::diagnostics::Errors;
use crate::suggest;

const FUNCTION: [&str; 18] = [
    "kind",
    "attrs",
    "result",
    "parent",
    "links",
    "share",
    "future",
    "stream",
    "construct",
    "no_err",
    "err_if",
    "no_message",
    "db",
    "needs_parent",
    "heartbeat",
    "busy",
    "crate",
    "component",
];
const IMPL: [&str; 3] = ["component", "methods", "crate"];
const SCOPE: [&str; 8] = ["kind", "attrs", "links", "share", "parent", "needs_parent", "heartbeat", "busy"];

/// Options of `tc_metric` that `tc_span` does not have.
const METRIC: [&str; 12] = [
    "calls",
    "errors",
    "duration",
    "in_flight",
    "first_item",
    "per_item",
    "items",
    "labels",
    "budget",
    "buckets",
    "exponential",
    "error_type",
];
const SHARED: [&str; 6] = ["future", "stream", "construct", "no_err", "err_if", "crate"];

/// Returns whether `tc_span` has this option and `tc_metric` does not.
pub(crate) fn is_only_of_span(option: &str) -> bool {
    (FUNCTION.contains(&option) || IMPL.contains(&option)) && !SHARED.contains(&option)
}

impl Place {
    /// Returns the options that are allowed here, as errors list them.
    pub(super) fn allowed(self) -> &'static [&'static str] {
        match self {
            // All but the last one, `component`, which is allowed on `impl` blocks only.
            Self::Function => &FUNCTION[..FUNCTION.len() - 1],
            Self::Impl => &IMPL,
            Self::Scope => &SCOPE,
        }
    }

    /// Returns whether the word is an option anywhere, or a likely typo of one that is allowed here.
    pub(super) fn is_option(self, word: &str) -> bool {
        FUNCTION.contains(&word)
            || IMPL.contains(&word)
            || METRIC.contains(&word)
            || suggest::nearest(word, self.allowed()).is_some()
    }

    /// Returns the error for an option that belongs elsewhere; `None` if the option is allowed here or unknown.
    pub(super) fn misplaced(self, option: &str) -> Option<String> {
        if METRIC.contains(&option) {
            return Some(format!("`{option}` belongs in `tc_metric`, a separate attribute of the function"));
        }
        let known = FUNCTION.contains(&option) || IMPL.contains(&option);
        if !known || self.allowed().contains(&option) {
            return None;
        }
        Some(match self {
            Self::Function => format!(
                "`{option}` belongs on an `impl` block: `#[tc_span(component = \"StoreDaemon\")] impl Store {{ .. }}`"
            ),
            Self::Impl => {
                format!("`{option}` belongs on a method; an `impl` block takes `component`, `methods` and `crate`")
            }
            Self::Scope => format!("`{option}` belongs on a function; a scope takes {}", list(&SCOPE)),
        })
    }
}

/// Reports pairs of contradictory options. `what` names the telemetry in errors: a span, or a metric.
pub(super) fn check(options: &Options, what: &str, errors: &mut Errors) {
    let mut clash = |one: &str, other: &str, why: &str| {
        if let (Some(_), Some(at)) = (options.written(one), options.written(other)) {
            errors.at(at, format_args!("`{other}` contradicts `{one}`: {why}"));
        }
    };
    clash("future", "stream", &format!("{what} covers one of them"));
    clash("future", "construct", "`construct` times only the call that creates the future");
    clash("stream", "construct", "`construct` times only the call that creates the stream");
    clash("construct", "result", "the result is not known when the call ends");
    clash("stream", "result", "a stream has no single result");
    clash("no_err", "err_if", "`no_err` means that there are no errors");
    clash("construct", "err_if", "the result is not known when the call ends");
    clash("construct", "busy", "the call that creates the future is not polled");
    clash("no_err", "no_message", "`no_err` records no errors, so there is no message");
    if let (Some(name), Some(_)) = (&options.name, &options.database) {
        errors.at(name, "a `db` span is named after its collection and operation; remove the name");
    }
    if let (Some((Cover::Construct, at)), Some(_)) = (&options.cover, &options.no_message) {
        errors.at(at, "`construct` sees no error, so `no_message` has no effect; remove it");
    }
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
