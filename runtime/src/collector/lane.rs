//! One signal on its way to one receiver: requests wait, are sent one after the other, and again if need be.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::outbox::{Batch, Outbox};
use super::way::Room;
use crate::config;
use crate::ids;
use crate::notice;
use crate::own::{self, Outcome, Signal};
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
    /// The receiver does not want the request they were in.
    pub(crate) refused: u64,
    /// The receiver took the request they were in, but not them.
    pub(crate) rejected: u64,
    /// There was no room for them in front of the collector.
    pub(crate) queue_full: u64,
    /// They wait, or are being sent.
    pub(crate) waiting: u64,
}

impl Counts {
    /// All that is lost.
    pub(crate) fn lost(&self) -> u64 {
        self.no_room + self.refused + self.rejected + self.queue_full
    }
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Counts>>(all: I) -> Counts {
        all.fold(Counts::default(), |sum, counts| Counts {
            exported: sum.exported + counts.exported,
            no_room: sum.no_room + counts.no_room,
            refused: sum.refused + counts.refused,
            rejected: sum.rejected + counts.rejected,
            queue_full: sum.queue_full + counts.queue_full,
            waiting: sum.waiting + counts.waiting,
        })
    }
}

/// A lane, as those who fill it and ask about it see it.
pub(crate) struct Lane {
    signal: Signal,
    what: String,
    outbox: RefCell<Outbox>,
    filled: Notify,
    idle: Notify,
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
    pub(crate) fn new(signal: config::Signal, what: String, room: Room) -> Rc<Self> {
        Rc::new(Lane {
            signal: own_signal(signal),
            what,
            outbox: RefCell::new(Outbox::new(room)),
            filled: Notify::new(),
            idle: Notify::new(),
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
        Counts { waiting: self.outbox.borrow().held().items, ..self.counts.get() }
    }

    /// Bytes that wait or are being sent.
    pub(crate) fn bytes(&self) -> usize {
        self.outbox.borrow().held().bytes
    }

    /// Waits until nothing waits any more.
    pub(crate) async fn emptied(&self) {
        while !self.outbox.borrow().is_empty() {
            self.idle.notified().await;
        }
    }

    /// Sends what comes, for ever.
    pub(crate) async fn run(self: Rc<Self>, mut transport: Box<Transport>) {
        loop {
            let next = self.outbox.borrow_mut().send();
            let Some(batch) = next else {
                self.idle.notify_waiters();
                self.filled.notified().await;
                continue;
            };
            self.deliver(&mut transport, &batch).await;
            self.outbox.borrow_mut().sent();
        }
    }

    /// Sends one request until the receiver has it, or says that it never will.
    async fn deliver(&self, transport: &mut Transport, batch: &Batch) {
        let mut backoff = Backoff::new(FIRST_WAIT, LONGEST_WAIT);
        loop {
            let began = Instant::now();
            let sent = transport.send(batch.bytes.clone()).await;
            own::sent(self.signal, outcome(&sent), began.elapsed());
            match sent {
                Sent::Accepted { rejected, message } => {
                    let rejected = rejected.min(batch.items);
                    self.count(|counts| {
                        counts.exported += batch.items - rejected;
                        counts.rejected += rejected;
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

fn own_signal(signal: config::Signal) -> Signal {
    match signal {
        config::Signal::Traces => Signal::Traces,
        config::Signal::Metrics => Signal::Metrics,
        config::Signal::Logs => Signal::Logs,
    }
}

fn outcome(sent: &Sent) -> Outcome {
    match sent {
        Sent::Accepted { rejected: 0, .. } => Outcome::Ok,
        Sent::Accepted { .. } => Outcome::Partial,
        Sent::Refused { .. } => Outcome::Refused,
        Sent::Retry { .. } => Outcome::Retry,
    }
}
