//! What the operator is told about failures of a receiver.

use tokio::time::Instant;

use crate::base::notice;
use crate::export::collector::told::{Told, head};

/// The failures of one receiver, and when they were reported.
pub(super) struct Failures {
    /// What goes where, as in `traces to http://localhost:4318`.
    what: String,
    since: Option<Instant>,
    /// Whether this failure was reported.
    was_told: bool,
    told: Told,
}

impl Failures {
    pub(super) fn new(what: String) -> Self {
        Failures { what, since: None, was_told: false, told: Told::default() }
    }

    /// Reports a failure: the first time, and then once a minute.
    pub(super) fn failed(&mut self, cause: &str) {
        self.was_told |= self.complain(head(cause), &format!("{cause}; trying again"));
        self.since.get_or_insert_with(Instant::now);
    }

    /// Reports what is wrong, unless the same cause was reported within a minute. Whether it did.
    pub(super) fn complain(&mut self, cause: &str, text: &str) -> bool {
        let due = self.told.is_due(cause, Instant::now().into());
        if due {
            notice::say(format_args!("{}: {text}", self.what));
        }
        due
    }

    /// Reports the end of a failure that was reported.
    pub(super) fn recovered(&mut self) {
        let (since, was_told) = (self.since.take(), std::mem::take(&mut self.was_told));
        if let Some(since) = since.filter(|_| was_told) {
            let text = format_args!("{}: works again, after {:.1?}", self.what, since.elapsed());
            notice::at(notice::INFO, text);
        }
    }
}
