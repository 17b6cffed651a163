//! The task that sends the requests of a queue.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::Queue;
use super::failures::Failures;
use crate::config::Signal;
use crate::export::account::Account;
use crate::export::pipeline::disk::Disk;
use crate::export::pipeline::outbox::Batch;
use crate::export::pipeline::split::Form;
use crate::export::self_metrics::{self, Backend};
use crate::export::spool::Claimed;
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

/// A request that is to be sent.
pub(super) enum Work {
    /// From memory.
    Live(Batch),
    /// From disk.
    Stored(Claimed),
}

impl Work {
    pub(super) fn batch(&self) -> Batch {
        match self {
            Work::Live(batch) => batch.clone(),
            Work::Stored(claimed) => Batch { bytes: claimed.bytes.clone(), items: claimed.items },
        }
    }
}

/// Why a request has to be sent again, and when.
pub(super) struct Retry {
    pub(super) after: Option<Duration>,
    pub(super) cause: String,
    pub(super) probe: Probe,
}

/// How the delivery of a request ended.
pub(super) enum Ended {
    /// The receiver has answered for all of it.
    Answered,
    /// Something is left of it, which waits again.
    Retry(Retry),
    /// A command stopped the worker; the rest of the request waits again.
    Stopped(Stopped),
}

/// Commands to a worker.
pub(super) enum Command {
    /// There are new requests in the outbox.
    Look,
    /// Try again at once, if a retry waits for its time.
    Hurry,
    /// Answer when nothing waits in memory.
    TellWhenEmpty(oneshot::Sender<()>),
    /// Take nothing from the disk any more, and end when nothing waits in memory.
    Retire,
    /// Stop sending, and answer.
    Stop(Stop, oneshot::Sender<()>),
}

/// How a worker stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// When the request in flight is dealt with.
    Finish,
    /// At once. Everything goes to disk, also what comes later.
    StoreRest,
    /// At once. Another worker goes on with the same outbox.
    Yield,
}

/// How a command stopped the worker, and who waits for the answer.
pub(super) type Stopped = (Stop, oneshot::Sender<()>);

/// What can wake a worker that waits.
pub(super) enum Event {
    Look,
    Hurry,
    Stop(Stopped),
}

/// The commands that a worker receives.
pub(super) struct Inbox {
    commands: UnboundedReceiver<Command>,
    queue: Rc<RefCell<Queue>>,
    /// Those who wait until nothing waits in memory.
    when_empty: Vec<oneshot::Sender<()>>,
    is_retired: bool,
}

impl Inbox {
    /// The next event. Nothing is lost if this is dropped before it is ready.
    pub(super) async fn next(&mut self) -> Event {
        loop {
            match self.commands.recv().await {
                Some(Command::Look) => {
                    self.queue.borrow_mut().look_sent = false;
                    return Event::Look;
                }
                Some(Command::Hurry) => return Event::Hurry,
                Some(Command::TellWhenEmpty(answer)) => {
                    // Most who wait do so for a short time only, and ask again.
                    self.when_empty.retain(|waiting| !waiting.is_closed());
                    self.when_empty.push(answer);
                    self.tell_if_empty();
                }
                Some(Command::Retire) => {
                    self.is_retired = true;
                    return Event::Look;
                }
                Some(Command::Stop(stop, answer)) => return Event::Stop((stop, answer)),
                // The handle of a worker is dropped when that has ended, or with the thread.
                None => std::future::pending().await,
            }
        }
    }

    fn tell_if_empty(&mut self) {
        if self.queue.borrow().outbox.is_empty() {
            for answer in self.when_empty.drain(..) {
                let _ = answer.send(());
            }
        }
    }
}

pub(super) struct Worker {
    pub(super) signal: Signal,
    pub(super) backend: Backend,
    pub(super) form: Form,
    pub(super) queue: Rc<RefCell<Queue>>,
    pub(super) account: Arc<Account>,
    pub(super) disk: Option<Disk>,
    pub(super) inbox: Inbox,
    pub(super) failures: Failures,
}

impl Worker {
    pub(super) fn new(
        signal: Signal,
        backend: &str,
        form: Form,
        queue: Rc<RefCell<Queue>>,
        account: Arc<Account>,
        disk: Option<Disk>,
        commands: UnboundedReceiver<Command>,
    ) -> Self {
        let inbox = Inbox { commands, queue: queue.clone(), when_empty: Vec::new(), is_retired: false };
        let failures = Failures::new(format!("{} to {backend}", signal.name()));
        Worker { signal, backend: self_metrics::backend(backend), form, queue, account, disk, inbox, failures }
    }

    /// Sends what comes, as soon as the worker that had the outbox before has stopped.
    pub(super) async fn run(mut self, mut transport: Box<Transport>, yielded: Option<oneshot::Receiver<()>>) {
        if let Some(yielded) = yielded {
            let _ = yielded.await;
            self.queue.borrow_mut().forget_receiver();
        }
        let stopped = self.send_all(&mut transport).await;
        self_metrics::forget(self.signal, self.backend);
        let Some((mut stop, mut answer)) = stopped else { return };
        drop(transport);
        while stop == Stop::StoreRest {
            self.store_all().await;
            let _ = answer.send(());
            (stop, answer) = loop {
                if let Event::Stop(stopped) = self.inbox.next().await {
                    break stopped;
                }
            };
        }
        let _ = answer.send(());
    }

    /// Sends until a command stops it. `None` if it has retired and has sent all.
    async fn send_all(&mut self, transport: &mut Transport) -> Option<Stopped> {
        let mut backoff = Backoff::new(FIRST_WAIT, LONGEST_WAIT);
        // Whether the attempt that follows was made because a probe succeeded.
        let mut was_back = false;
        loop {
            self.inbox.tell_if_empty();
            let Some(work) = self.next().await else {
                if self.inbox.is_retired {
                    return None;
                }
                match self.wait(LOOK_EVERY).await {
                    Some(stopped) => return Some(stopped),
                    None => continue,
                }
            };
            let stored = matches!(work, Work::Stored(_));
            let stopped = match self.deliver(transport, work).await {
                Ended::Stopped(stopped) => Some(stopped),
                Ended::Retry(Retry { after, cause, probe }) => {
                    self.failed(&cause);
                    let until = Instant::now() + backoff.next(after, ids::random());
                    // A probe that succeeded before this failure has shown that it does not tell.
                    let probe = if was_back { Probe::None } else { probe };
                    match self.wait_to_retry(until, transport, probe).await {
                        Ok(is_back) => {
                            was_back = is_back;
                            None
                        }
                        Err(stopped) => Some(stopped),
                    }
                }
                Ended::Answered => {
                    backoff.reset();
                    was_back = false;
                    // Not all at once: the receiver has just come back, and others are waiting for it too.
                    if stored { self.wait(REPLAY_EVERY).await } else { None }
                }
            };
            if stopped.is_some() {
                return stopped;
            }
        }
    }

    /// What to send next: what has just happened comes before what waits on disk.
    async fn next(&mut self) -> Option<Work> {
        let live = self.queue.borrow_mut().outbox.send();
        match (live, &self.disk) {
            (Some(batch), _) => Some(Work::Live(batch)),
            (None, Some(disk)) if !self.inbox.is_retired => disk.next().await.map(Work::Stored),
            (None, _) => None,
        }
    }

    /// Waits for something new, or, if there may be more on disk, for some time. `Some` if a command stops it.
    async fn wait(&mut self, time: Duration) -> Option<Stopped> {
        if !self.queue.borrow().outbox.is_empty() {
            return None;
        }
        // Shortened by chance, so that many processes that wait for one receiver do not move in step.
        let time = time.mul_f64(0.5 + 0.5 * (ids::random() >> 11) as f64 / (1_u64 << 53) as f64);
        let sleep = tokio::time::sleep(time);
        tokio::pin!(sleep);
        loop {
            tokio::select! {
                () = &mut sleep, if self.disk.is_some() => return None,
                event = self.inbox.next() => match event {
                    Event::Look => return None,
                    Event::Hurry => {}
                    Event::Stop(stopped) => return Some(stopped),
                }
            }
        }
    }

    /// The receiver is down. Waits until then, or until it is back. What is pending goes to disk meanwhile, if there is one:
    /// there it outlives this process. True if a probe found that it is back; an error, if a command stops the worker.
    async fn wait_to_retry(
        &mut self,
        until: Instant,
        transport: &mut Transport,
        probe: Probe,
    ) -> Result<bool, Stopped> {
        let back = is_back(transport, probe);
        tokio::pin!(back);
        loop {
            self.store_all().await;
            tokio::select! {
                () = tokio::time::sleep_until(until) => return Ok(false),
                () = &mut back, if probe != Probe::None => return Ok(true),
                event = self.inbox.next() => match event {
                    Event::Look => {}
                    Event::Hurry => return Ok(false),
                    Event::Stop(stopped) => return Err(stopped),
                }
            }
        }
    }

    /// Puts on disk what waits, as far as the disk takes it, if there is one.
    pub(super) async fn store_all(&mut self) {
        let Some(disk) = &self.disk else { return };
        loop {
            let next = self.queue.borrow_mut().outbox.send();
            let Some(batch) = next else { break };
            if let Err(refused) = disk.put(&batch, &self.account).await {
                self.failures.complain(refused.reason.name(), &format!("not kept on disk: {refused}"));
                self.queue.borrow_mut().outbox.back();
                break;
            }
            self.queue.borrow_mut().outbox.sent();
        }
        self.inbox.tell_if_empty();
    }

    /// An attempt failed.
    fn failed(&mut self, cause: &str) {
        self.failures.failed(cause);
        self.queue.borrow_mut().is_failing = true;
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
