//! One signal on its way to one receiver: requests wait, are sent one after the other, and again if need be.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Mutex, Notify};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::counts::Counts;
use super::disk::Disk;
use super::outbox::{Batch, Outbox};
use crate::config;
use crate::ids;
use crate::notice;
use crate::own::{self, Outcome, Signal};
use crate::spool::Claimed;
use crate::transport::{Backoff, Sent, Transport};

/// Waits between attempts double from the first to the longest.
const FIRST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// What waits on disk is sent with about this much time in between.
const REPLAY_EVERY: Duration = Duration::from_millis(100);
/// How often to look whether another process has left something there.
const LOOK_EVERY: Duration = Duration::from_secs(20);
/// How often a failure that goes on is told.
const TOLD_EVERY: Duration = Duration::from_secs(60);

/// A request that is to be sent.
enum Work {
    /// From memory.
    Live(Batch),
    /// From disk.
    Stored(Claimed),
}

impl Work {
    fn items(&self) -> u64 {
        match self {
            Work::Live(batch) => batch.items,
            Work::Stored(claimed) => claimed.items,
        }
    }
}

/// A lane, as those who fill it and ask about it see it.
pub(crate) struct Lane {
    signal: Signal,
    what: String,
    outbox: RefCell<Outbox>,
    filled: Notify,
    idle: Notify,
    hurry: Notify,
    counts: Cell<Counts>,
    /// Where what cannot be sent waits.
    disk: Option<Disk>,
    /// Held while something is written or removed there.
    storing: Mutex<()>,
    /// Held while a request is being sent, until it is dealt with.
    sending: Mutex<()>,
    task: Cell<Option<AbortHandle>>,
    failing: RefCell<Failing>,
}

/// What was said about failures.
#[derive(Default)]
struct Failing {
    since: Option<Instant>,
    /// When something was told the last time, of this failure or of an earlier one.
    told: Option<Instant>,
    /// Whether this failure was.
    was_told: bool,
}

impl Lane {
    /// A lane that says of itself that it brings `what`, as in `traces to http://localhost:4318`.
    pub(crate) fn new(signal: config::Signal, what: String, outbox: Outbox, disk: Option<Disk>) -> Rc<Self> {
        Rc::new(Lane {
            signal: own_signal(signal),
            what,
            outbox: RefCell::new(outbox),
            filled: Notify::new(),
            idle: Notify::new(),
            hurry: Notify::new(),
            counts: Cell::default(),
            disk,
            storing: Mutex::new(()),
            sending: Mutex::new(()),
            task: Cell::new(None),
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
        let own = Counts { waiting: self.outbox.borrow().held().items, ..self.counts.get() };
        [Some(own), self.disk.as_ref().map(Disk::counts)].into_iter().flatten().sum()
    }

    /// Whether it is well, and has no room for so many bytes more. One that is not well has what is old give way.
    pub(crate) fn is_busy(&self, bytes: usize) -> bool {
        !self.is_failing() && self.outbox.borrow().is_busy(bytes)
    }

    /// Bytes that wait or are being sent.
    pub(crate) fn bytes(&self) -> usize {
        self.outbox.borrow().held().bytes
    }

    /// Another lane is in the place of this one, which only sends what it has.
    pub(crate) fn retire(&self) {
        self.disk.iter().for_each(Disk::retire);
    }

    /// Takes over what waits in a lane that this one is in the place of. What that was just sending may arrive twice.
    pub(crate) fn adopt(&self, old: &Lane) {
        old.task.take().iter().for_each(AbortHandle::abort);
        let gone = self.outbox.borrow_mut().adopt(&mut old.outbox.borrow_mut());
        self.count(|counts| counts.no_room += gone);
        self.filled.notify_one();
    }

    /// Has it try again at once, if it is waiting to.
    pub(crate) fn hurry(&self) {
        self.hurry.notify_waiters();
    }

    /// Bytes on disk, if that is where its requests wait.
    pub(crate) fn disk_bytes(&self) -> Option<u64> {
        self.disk.as_ref().map(Disk::bytes)
    }

    /// Waits until nothing waits in memory any more.
    pub(crate) async fn emptied(&self) {
        while !self.outbox.borrow().is_empty() {
            self.idle.notified().await;
        }
    }

    /// Starts to send what comes, for ever.
    pub(crate) fn start(self: &Rc<Self>, transport: Box<Transport>) {
        let task = tokio::task::spawn_local(self.clone().run(transport));
        self.task.set(Some(task.abort_handle()));
    }

    async fn run(self: Rc<Self>, mut transport: Box<Transport>) {
        let mut backoff = Backoff::new(FIRST_WAIT, LONGEST_WAIT);
        loop {
            if self.outbox.borrow().is_empty() {
                // Those who wait for the memory do not wait for the disk.
                self.idle.notify_waiters();
            }
            let sending = self.sending.lock().await;
            let Some(work) = self.next().await else {
                drop(sending);
                self.wait(LOOK_EVERY).await;
                continue;
            };
            let bytes = match &work {
                Work::Live(batch) => batch.bytes.clone(),
                Work::Stored(claimed) => claimed.bytes.clone(),
            };
            let began = Instant::now();
            let sent = self.attempt(&mut transport, bytes, &work).await;
            own::sent(self.signal, outcome(&sent), began.elapsed());
            match sent {
                Sent::Accepted { rejected, message } => {
                    self.recovered();
                    backoff.reset();
                    let stored = matches!(work, Work::Stored(_));
                    self.settle(work, rejected, &message.unwrap_or_default()).await;
                    drop(sending);
                    if stored {
                        // Not all at once: the receiver has just come back, and others are waiting for it too.
                        self.wait(REPLAY_EVERY).await;
                    }
                }
                Sent::Refused { cause } => self.refuse(work, &cause).await,
                Sent::Retry { after, cause } => {
                    self.failed(&format!("{cause}; trying again"));
                    self.give_back(work);
                    drop(sending);
                    self.lie_low(Instant::now() + backoff.next(after, ids::random())).await;
                }
            }
        }
    }

    /// Sends a request once. Where this is to find out whether the receiver is back, what comes meanwhile goes to disk.
    async fn attempt(&self, transport: &mut Transport, bytes: Bytes, work: &Work) -> Sent {
        let send = transport.send(bytes);
        let (Work::Stored(_), Some(disk), true) = (work, &self.disk, self.is_failing()) else { return send.await };
        tokio::pin!(send);
        loop {
            tokio::select! {
                biased;
                sent = &mut send => return sent,
                () = self.filled.notified() => self.store_all(disk).await,
            }
        }
    }

    fn is_failing(&self) -> bool {
        self.failing.borrow().since.is_some()
    }

    /// What to send next: what has just happened comes before what waits on disk.
    async fn next(&self) -> Option<Work> {
        let live = self.outbox.borrow_mut().send();
        match (live, &self.disk) {
            (Some(batch), _) => Some(Work::Live(batch)),
            (None, Some(disk)) if !disk.is_retired() => disk.next().await.map(Work::Stored),
            (None, _) => None,
        }
    }

    /// Waits for something new, or, if there may be more on disk, for some time.
    async fn wait(&self, time: Duration) {
        if self.disk.is_some() {
            // Shortened by chance, so that many processes that wait for one receiver do not move in step.
            let time = time.mul_f64(0.5 + 0.5 * (ids::random() >> 11) as f64 / (1_u64 << 53) as f64);
            let _ = tokio::time::timeout(time, self.filled.notified()).await;
        } else {
            self.filled.notified().await;
        }
    }

    /// The receiver took it, or most of it.
    async fn settle(&self, work: Work, rejected: u64, message: &str) {
        let items = work.items();
        let rejected = rejected.min(items);
        if rejected > 0 {
            self.complain(&format!("the receiver rejected {rejected} of {items}: {message}"));
        }
        match (work, &self.disk) {
            (Work::Stored(claimed), Some(disk)) => {
                let _not_left_behind = self.storing.lock().await;
                disk.done(claimed, items - rejected, rejected, 0).await;
            }
            _ => {
                self.count(|counts| {
                    counts.exported += items - rejected;
                    counts.rejected += rejected;
                });
                self.outbox.borrow_mut().sent();
            }
        }
    }

    /// The receiver will never take it.
    async fn refuse(&self, work: Work, cause: &str) {
        let items = work.items();
        self.complain(&format!("{items} items are lost: {cause}"));
        match (work, &self.disk) {
            (Work::Stored(claimed), Some(disk)) => {
                let _not_left_behind = self.storing.lock().await;
                disk.done(claimed, 0, 0, items).await;
            }
            _ => {
                self.count(|counts| counts.refused += items);
                self.outbox.borrow_mut().sent();
            }
        }
    }

    /// It is to be sent another time.
    fn give_back(&self, work: Work) {
        match (work, &self.disk) {
            (Work::Stored(claimed), Some(disk)) => disk.back(claimed),
            _ => self.outbox.borrow_mut().back(),
        }
    }

    /// The receiver is down. What waits goes to disk meanwhile, if there is one: there it outlives this process.
    async fn lie_low(&self, until: Instant) {
        let hurry = self.hurry.notified();
        tokio::pin!(hurry);
        loop {
            if let Some(disk) = &self.disk {
                self.store_all(disk).await;
                if self.outbox.borrow().is_empty() {
                    self.idle.notify_waiters();
                }
            }
            tokio::select! {
                () = tokio::time::sleep_until(until) => return,
                () = &mut hurry => return,
                () = self.filled.notified(), if self.disk.is_some() => {}
            }
        }
    }

    /// Puts on disk what waits, as far as the disk takes it.
    async fn store_all(&self, disk: &Disk) {
        let _one_at_a_time = self.storing.lock().await;
        loop {
            let next = self.outbox.borrow_mut().send();
            let Some(batch) = next else { return };
            if let Err(refused) = disk.put(&batch).await {
                self.complain(&format!("not kept on disk: {refused}"));
                return self.outbox.borrow_mut().back();
            }
            self.outbox.borrow_mut().sent();
        }
    }

    /// Nothing will be sent any more: waits until what is being sent is dealt with. The next process would otherwise find
    /// it on disk and send it again.
    pub(crate) async fn settled(&self) {
        let _between_two = self.sending.lock().await;
        self.task.take().iter().for_each(tokio::task::AbortHandle::abort);
    }

    /// Nothing will be sent any more: puts on disk what waits or is being sent. What the receiver has got of it without
    /// having said so, it will get twice.
    pub(crate) async fn store_rest(&self) {
        let Some(disk) = &self.disk else { return };
        // A request that is just being written must not be written twice.
        drop(self.storing.lock().await);
        self.task.take().iter().for_each(tokio::task::AbortHandle::abort);
        self.outbox.borrow_mut().back();
        self.store_all(disk).await;
    }

    fn count(&self, change: impl FnOnce(&mut Counts)) {
        let mut counts = self.counts.get();
        change(&mut counts);
        self.counts.set(counts);
    }

    /// Tells of a failure: the first, and then one a minute.
    fn failed(&self, cause: &str) {
        let told = self.complain(cause);
        let mut failing = self.failing.borrow_mut();
        failing.since.get_or_insert_with(Instant::now);
        failing.was_told |= told;
    }

    /// Tells what is wrong, if nothing was told within a minute; says whether it did.
    fn complain(&self, cause: &str) -> bool {
        let mut failing = self.failing.borrow_mut();
        if failing.told.is_some_and(|told| told.elapsed() < TOLD_EVERY) {
            return false;
        }
        failing.told = Some(Instant::now());
        notice::say(format_args!("{}: {cause}", self.what));
        true
    }

    /// Tells of the end of a failure that was told.
    fn recovered(&self) {
        let mut failing = self.failing.borrow_mut();
        let (since, was_told) = (failing.since.take(), std::mem::take(&mut failing.was_told));
        if let Some(since) = since.filter(|_| was_told) {
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
