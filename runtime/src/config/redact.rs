//! The hook that sees every text before it leaves the process.

use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use crate::declare::value::OwnedValue;
use crate::meter::snapshot::Snapshot;
use crate::record::finished::FinishedSpan;

/// What a hook is: it is given the name under which a text stands and the text, and says what shall stand there instead.
type Hook = dyn Fn(&str, &str) -> Option<String> + Send + Sync;

/// What stands where the hook panicked: it may have been about to remove just this.
const UNKNOWN: &str = "[redaction failed]";

/// Changes texts on their way out. See [`Config::with_redaction`](crate::config::Config::with_redaction).
#[derive(Clone)]
pub(crate) struct Redact(Arc<Hook>);

impl Redact {
    pub(crate) fn new(hook: impl Fn(&str, &str) -> Option<String> + Send + Sync + 'static) -> Self {
        Redact(Arc::new(hook))
    }

    /// What shall stand instead of `text` under `name`; `None` leaves it.
    pub(crate) fn instead(&self, name: &str, text: &str) -> Option<String> {
        panic::catch_unwind(AssertUnwindSafe(|| (self.0)(name, text))).unwrap_or_else(|_| Some(UNKNOWN.to_owned()))
    }

    /// Changes the texts of a span: values of attributes, its name, the description of its status.
    pub(crate) fn span(&self, span: &mut FinishedSpan) {
        span.change_texts(&|name, text| self.instead(name, text));
    }

    /// Changes the texts of labels. Those that become the same stay series of their own.
    pub(crate) fn metrics(&self, snapshot: &mut Snapshot) {
        let points = snapshot.metrics.iter_mut().flat_map(|metric| &mut metric.points);
        points.flat_map(|point| &mut point.labels).for_each(|(name, value)| self.attribute(name, value));
    }

    /// Changes the texts of an attribute.
    pub(crate) fn attribute(&self, name: &str, value: &mut OwnedValue) {
        value.change_texts(|text| self.instead(name, text));
    }
}

impl fmt::Debug for Redact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redact(..)")
    }
}

/// The text that shall leave the process under `name`.
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
