//! The redaction hook, which sees every text before it leaves the process.

use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use crate::declare::value::OwnedValue;
use crate::meter::snapshot::Snapshot;
use crate::record::finished::FinishedSpan;

/// The hook: takes a name and its text, and returns a replacement, or `None` to keep the text.
type Hook = dyn Fn(&str, &str) -> Option<String> + Send + Sync;

/// Replaces a text at which the hook panicked: it may be one that the hook would have removed.
const UNKNOWN: &str = "[redaction failed]";

/// The redaction hook, applied to exported data. See [`Config::with_redaction`](crate::config::Config::with_redaction).
#[derive(Clone)]
pub(crate) struct Redact(Arc<Hook>);

impl Redact {
    pub(crate) fn new(hook: impl Fn(&str, &str) -> Option<String> + Send + Sync + 'static) -> Self {
        Redact(Arc::new(hook))
    }

    /// Calls the hook. Returns the replacement, which is `UNKNOWN` if the hook panics, or `None` to keep the text.
    pub(crate) fn instead(&self, name: &str, text: &str) -> Option<String> {
        panic::catch_unwind(AssertUnwindSafe(|| (self.0)(name, text))).unwrap_or_else(|_| Some(UNKNOWN.to_owned()))
    }

    /// Redacts the texts of a span: values of attributes, its name, the description of its status.
    pub(crate) fn span(&self, span: &mut FinishedSpan) {
        span.change_texts(&|name, text| self.instead(name, text));
    }

    /// Redacts the texts of labels. Series whose labels become equal are not merged.
    pub(crate) fn metrics(&self, snapshot: &mut Snapshot) {
        let points = snapshot.metrics.iter_mut().flat_map(|metric| &mut metric.points);
        points.flat_map(|point| &mut point.labels).for_each(|(name, value)| self.attribute(name, value));
    }

    /// Redacts the texts of an attribute.
    pub(crate) fn attribute(&self, name: &str, value: &mut OwnedValue) {
        value.change_texts(|text| self.instead(name, text));
    }
}

impl fmt::Debug for Redact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redact(..)")
    }
}

/// Redacts a text, if there is a hook.
#[cfg(any(has_logs, test))]
pub(crate) fn apply<'a>(redact: &Option<Redact>, name: &str, text: &'a str) -> std::borrow::Cow<'a, str> {
    match redact.as_ref().and_then(|redact| redact.instead(name, text)) {
        Some(other) => std::borrow::Cow::Owned(other),
        None => std::borrow::Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_that_panics_lets_nothing_through() {
        let redact = Some(Redact::new(|name, text| match name {
            "left" => None,
            "changed" => Some(text.replace("hunter2", "***")),
            _ => panic!("do not know {name}"),
        }));
        assert_eq!(apply(&redact, "left", "hunter2"), "hunter2");
        assert_eq!(apply(&redact, "changed", "is hunter2"), "is ***");
        assert_eq!(apply(&redact, "other", "hunter2"), UNKNOWN);
        assert_eq!(apply(&None, "other", "hunter2"), "hunter2");
    }
}
