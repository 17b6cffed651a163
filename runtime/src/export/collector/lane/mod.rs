//! One signal on its way to one receiver: requests wait, are sent one after the other, and again if need be.

mod deliver;
mod failing;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, Notify};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use self::deliver::{Retry, Work};
use self::failing::Failing;
use super::disk::Disk;
use super::outbox::{Batch, Outbox};
use super::size::Size;
use super::split::{Form, split};
use crate::config::{Protocol, Signal};
use crate::export::account::{Account, State};
use crate::export::own::Reason;
use crate::export::transport::{Backoff, Probe, Transport};
use crate::record::ids;

/// Waits between attempts double from the first to the longest.
const FIRST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// While a receiver is down it is looked for about this often, so that no wait lasts much longer than the failure.
const PROBE_EVERY: Duration = Duration::from_millis(500);
/// What waits on disk is sent with about this much time in between.
const REPLAY_EVERY: Duration = Duration::from_millis(100);
/// How often to look whether another process has left something there.
const LOOK_EVERY: Duration = Duration::from_secs(20);

/// A lane, as those who fill it and ask about it see it.
pub(crate) struct Lane {
    signal: Signal,
    what: String,
    outbox: RefCell<Outbox>,
    filled: Notify,
    idle: Notify,
    hurry: Notify,
    account: Arc<Account>,
    form: Form,
    size: Size,
    /// Where what cannot be sent waits.
    disk: Option<Box<Disk>>,
    /// Held while something is written or removed there.
    storing: Mutex<()>,
    /// Held while a request is being sent, until it is dealt with.
    sending: Mutex<()>,
    task: Cell<Option<AbortHandle>>,
    failing: RefCell<Failing>,
}

impl Lane {
    /// A lane that says of itself that it brings `what`, as in `traces to http://localhost:4318`.
    pub(crate) fn new(
        signal: Signal,
        protocol: Protocol,
        what: String,
        outbox: Outbox,
        disk: Option<Box<Disk>>,
        account: Arc<Account>,
    ) -> Rc<Self> {
        let (json, metrics) = (protocol == Protocol::HttpJson, signal == Signal::Metrics);
        Rc::new(Lane {
            form: Form { json, metrics },
            size: Size::new(outbox.longest_request()),
            signal,
            what,
            outbox: RefCell::new(outbox),
            filled: Notify::new(),
            idle: Notify::new(),
            hurry: Notify::new(),
            account,
            disk,
            storing: Mutex::new(()),
            sending: Mutex::new(()),
            task: Cell::new(None),
            failing: RefCell::default(),
        })
    }

    /// Adds a request, in parts if it is too large.
    pub(crate) fn push(&self, batch: Batch) {
        self.account.add(batch.items, State::Pending);
        let parts = split(batch, self.form, self.size.now());
        self.evicted(parts.into_iter().map(|part| self.outbox.borrow_mut().push(part)).sum());
        self.filled.notify_one();
    }

    fn evicted(&self, items: u64) {
        self.account.pass(items, State::Pending, State::Dropped(Reason::NoRoom));
    }

    /// What became of its items until now.
    pub(crate) fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// Whether it is well, and has no room for so many bytes more. One that is not well has what is old give way.
    pub(crate) fn is_busy(&self, bytes: usize) -> bool {
        !self.is_failing() && self.outbox.borrow().is_busy(bytes)
    }

    /// The largest request that the receiver is sent.
    pub(crate) fn longest_request(&self) -> usize {
        self.size.now()
    }

    /// Bytes that wait or are being sent.
    pub(crate) fn bytes(&self) -> usize {
        self.outbox.borrow().held().bytes
    }

    /// Another lane is in the place of this one, which only sends what it has.
    pub(crate) fn retire(&self) {
        self.disk.iter().for_each(|disk| disk.retire());
    }

    /// Stops, unless it is just writing to disk, so that another lane can take over what waits. Whether it did.
    pub(crate) fn yields(&self) -> bool {
        let yields = self.storing.try_lock().is_ok();
        if yields {
            self.stop();
        }
        yields
    }

    /// Takes over what waits in a lane that has stopped and has the same account. What that was just sending may arrive twice.
    pub(crate) fn adopt(&self, old: &Lane) {
        self.evicted(self.outbox.borrow_mut().adopt(&mut old.outbox.borrow_mut()));
        self.filled.notify_one();
    }

    /// Whether nothing waits in memory, and nothing is being sent.
    pub(crate) fn is_settled(&self) -> bool {
        self.outbox.borrow().is_empty() && self.sending.try_lock().is_ok()
    }

    /// Ends what `start` began.
    pub(crate) fn stop(&self) {
        self.task.take().iter().for_each(AbortHandle::abort);
    }

    /// Has it try again at once, if it is waiting to.
    pub(crate) fn hurry(&self) {
        self.hurry.notify_waiters();
    }

    /// Looks whether what was put on disk is still there.
    pub(crate) async fn verify(&self) {
        if let Some(disk) = &self.disk {
            disk.verify().await;
        }
    }

    /// Bytes on disk, if that is where its requests wait.
    pub(crate) fn disk_bytes(&self) -> Option<u64> {
        self.disk.as_ref().map(|disk| disk.bytes())
    }

    /// Waits until nothing waits in memory any more.
    pub(crate) async fn emptied(&self) {
        while !self.outbox.borrow().is_empty() {
            self.idle.notified().await;
        }
    }

    /// Starts to send what comes, for ever.
    pub(crate) fn start(self: &Rc<Self>, mut transport: Box<Transport>) {
        if let Err(problem) = transport.check_files() {
            self.complain("files", &problem);
        }
        let task = tokio::task::spawn_local(self.clone().run(transport));
        self.task.set(Some(task.abort_handle()));
    }

    async fn run(self: Rc<Self>, mut transport: Box<Transport>) {
        let mut backoff = Backoff::new(FIRST_WAIT, LONGEST_WAIT);
        // Whether the attempt that follows was made because a probe succeeded.
        let mut was_back = false;
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
            let stored = matches!(work, Work::Stored(_));
            let delivery = self.deliver(&mut transport, work.batch(), stored).await;
            let retry = self.settle(work, delivery).await;
            drop(sending);
            match retry {
                Some(Retry { after, cause, probe }) => {
                    self.failed(&cause);
                    let until = Instant::now() + backoff.next(after, ids::random());
                    // A probe that succeeded before this failure has shown that it does not tell.
                    let probe = if was_back { Probe::None } else { probe };
                    was_back = self.lie_low(until, &mut transport, probe).await;
                }
                None => {
                    backoff.reset();
                    was_back = false;
                    if stored {
                        // Not all at once: the receiver has just come back, and others are waiting for it too.
                        self.wait(REPLAY_EVERY).await;
                    }
                }
            }
        }
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

    /// The receiver is down. Waits until then, or until it is back. What is pending goes to disk meanwhile, if there is one:
    /// there it outlives this process. True if a probe found that it is back.
    async fn lie_low(&self, until: Instant, transport: &mut Transport, probe: Probe) -> bool {
        let (hurry, back) = (self.hurry.notified(), is_back(transport, probe));
        tokio::pin!(hurry, back);
        loop {
            if let Some(disk) = &self.disk {
                self.store_all(disk).await;
                if self.outbox.borrow().is_empty() {
                    self.idle.notify_waiters();
                }
            }
            tokio::select! {
                () = tokio::time::sleep_until(until) => return false,
                () = &mut hurry => return false,
                () = &mut back, if probe != Probe::None => return true,
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
            if let Err(refused) = disk.put(&batch, &self.account).await {
                self.complain(refused.reason.name(), &format!("not kept on disk: {refused}"));
                return self.outbox.borrow_mut().back();
            }
            self.outbox.borrow_mut().sent();
        }
    }

    /// Nothing will be sent any more: waits until what is being sent is dealt with. The next process would otherwise find
    /// it on disk and send it again.
    pub(crate) async fn settled(&self) {
        let _between_two = self.sending.lock().await;
        self.stop();
    }

    /// Nothing will be sent any more: puts on disk what waits or is being sent. What the receiver has got of it without
    /// having said so, it will get twice.
    pub(crate) async fn store_rest(&self) {
        let Some(disk) = &self.disk else { return };
        // A request that is just being written must not be written twice.
        drop(self.storing.lock().await);
        self.stop();
        self.outbox.borrow_mut().back();
        self.store_all(disk).await;
    }
}

/// Waits until a receiver that was down is back.
async fn is_back(transport: &mut Transport, probe: Probe) {
    let mut every = PROBE_EVERY;
    loop {
        // Shortened by chance, so that many processes that wait for one receiver do not move in step.
        tokio::time::sleep(every.mul_f64(1.0 - 0.5 * ids::random() as f64 / u64::MAX as f64)).await;
        let began = Instant::now();
        if transport.probe(probe).await {
            return;
        }
        // One that got no answer at all may have left a lookup of a name behind: such probes become fewer.
        if began.elapsed() > PROBE_EVERY {
            every *= 2;
        }
    }
}
