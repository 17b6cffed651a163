//! One signal on its way to one receiver: requests wait, are sent one after the other, and again if need be.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::outbox::{Batch, Outbox};
use crate::ids;
use crate::notice;
use crate::transport::{Backoff, Sent, Transport};

/// Waits between attempts double from the first to the longest.
const FIRST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// How often a failure that goes on is told.
const TOLD_EVERY: Duration = Duration::from_secs(60);

/// What became of the items of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// The receiver took them.
    pub(crate) exported: u64,
    /// There was no room for them.
    pub(crate) no_room: u64,
    /// The receiver does not want them, whole requests or parts of them.
    pub(crate) refused: u64,
    /// They wait, or are being sent.
    pub(crate) waiting: u64,
}

/// A lane, as those who fill it and ask about it see it.
pub(crate) struct Lane {
    what: String,
    outbox: RefCell<Outbox>,
    filled: Notify,
    idle: Notify,
    in_flight: Cell<u64>,
    counts: Cell<Counts>,
    failing: RefCell<Failing>,
}

/// What was said about failures.
#[derive(Default)]
struct Failing {
    since: Option<Instant>,
    told: Option<Instant>,
}

impl Lane {
    /// A lane that says of itself that it brings `what`, as in `traces to http://localhost:4318`.
    pub(crate) fn new(what: String, limit: usize) -> Rc<Self> {
        Rc::new(Lane {
            what,
            outbox: RefCell::new(Outbox::new(limit)),
            filled: Notify::new(),
            idle: Notify::new(),
            in_flight: Cell::new(0),
            counts: Cell::default(),
            failing: RefCell::default(),
        })
    }

    /// Adds a request.
    pub(crate) fn push(&self, batch: Batch) {
        let gone = self.outbox.borrow_mut().push(batch);
        self.count(|counts| counts.no_room += gone);
        self.filled.notify_one();
    }

    /// What became of its items until now.
    pub(crate) fn counts(&self) -> Counts {
        Counts { waiting: self.outbox.borrow().items() + self.in_flight.get(), ..self.counts.get() }
    }

    /// Waits until nothing waits any more.
    pub(crate) async fn emptied(&self) {
        while self.in_flight.get() > 0 || !self.outbox.borrow().is_empty() {
            self.idle.notified().await;
        }
    }

    /// Sends what comes, for ever.
    pub(crate) async fn run(self: Rc<Self>, mut transport: Box<Transport>) {
        loop {
            let next = self.outbox.borrow_mut().pop();
            let Some(batch) = next else {
                self.idle.notify_waiters();
                self.filled.notified().await;
                continue;
            };
            self.in_flight.set(batch.items);
            self.deliver(&mut transport, &batch).await;
            self.in_flight.set(0);
        }
    }

    /// Sends one request until the receiver has it, or says that it never will.
    async fn deliver(&self, transport: &mut Transport, batch: &Batch) {
        let mut backoff = Backoff::new(FIRST_WAIT, LONGEST_WAIT);
        loop {
            match transport.send(batch.bytes.clone()).await {
                Sent::Accepted { rejected, message } => {
                    let rejected = rejected.min(batch.items);
                    self.count(|counts| {
                        counts.exported += batch.items - rejected;
                        counts.refused += rejected;
                    });
                    self.recovered();
                    if rejected > 0 {
                        let message = message.unwrap_or_default();
                        self.failed(&format!("the receiver rejected {rejected} of {}: {message}", batch.items));
                    }
                    return;
                }
                Sent::Refused { cause } => {
                    self.count(|counts| counts.refused += batch.items);
                    return self.failed(&format!("{} items are lost: {cause}", batch.items));
                }
                Sent::Retry { after, cause } => {
                    self.failed(&format!("{cause}; trying again"));
                    tokio::time::sleep(backoff.next(after, ids::random())).await;
                }
            }
        }
    }

    fn count(&self, change: impl FnOnce(&mut Counts)) {
        let mut counts = self.counts.get();
        change(&mut counts);
        self.counts.set(counts);
    }

    /// Tells of a failure: the first, and then one a minute.
    fn failed(&self, cause: &str) {
        let mut failing = self.failing.borrow_mut();
        failing.since.get_or_insert_with(Instant::now);
        if failing.told.is_none_or(|told| told.elapsed() >= TOLD_EVERY) {
            failing.told = Some(Instant::now());
            notice::say(format_args!("{}: {cause}", self.what));
        }
    }

    fn recovered(&self) {
        let failing = self.failing.take();
        if let Some(since) = failing.since {
            notice::say(format_args!("{}: works again, after {:.1?}", self.what, since.elapsed()));
        }
    }
}
