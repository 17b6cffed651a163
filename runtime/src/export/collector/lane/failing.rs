//! What is told about failures of a receiver.

use tokio::time::Instant;

use super::Lane;
use crate::base::notice;
use crate::export::collector::told::{Told, head};

/// What was said about failures.
#[derive(Default)]
pub(super) struct Failing {
    since: Option<Instant>,
    /// Whether this failure was told.
    was_told: bool,
    told: Told,
}

impl Lane {
    pub(super) fn is_failing(&self) -> bool {
        self.failing.borrow().since.is_some()
    }

    /// Tells of a failure: at first, and then once a minute.
    pub(super) fn failed(&self, cause: &str) {
        let told = self.complain(head(cause), &format!("{cause}; trying again"));
        let mut failing = self.failing.borrow_mut();
        failing.since.get_or_insert_with(Instant::now);
        failing.was_told |= told;
    }

    /// Tells what is wrong, unless the same cause was told within a minute; says whether it did.
    pub(super) fn complain(&self, cause: &str, text: &str) -> bool {
        let due = self.failing.borrow_mut().told.is_due(cause, Instant::now().into());
        if due {
            notice::say(format_args!("{}: {text}", self.what));
        }
        due
    }

    /// Tells of the end of a failure that was told.
    pub(super) fn recovered(&self) {
        let mut failing = self.failing.borrow_mut();
        let (since, was_told) = (failing.since.take(), std::mem::take(&mut failing.was_told));
        if let Some(since) = since.filter(|_| was_told) {
            let text = format_args!("{}: works again, after {:.1?}", self.what, since.elapsed());
            notice::at(notice::INFO, text);
        }
    }
}
