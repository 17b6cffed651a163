//! The worker: the task that sends the requests of a queue.

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
use crate::export::pipeline::split::Layout;
use crate::export::self_metrics::{self, Backend};
use crate::export::spool::Claimed;
use crate::export::transport::{Backoff, Probe, Transport};
use crate::record::ids;

/// The backoff between attempts doubles from the first to the longest.
const FIRST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// The interval of probes while a receiver is down, so that a backoff does not last much longer than the outage.
const PROBE_EVERY: Duration = Duration::from_millis(500);
/// The pause after a request from disk; jitter shortens it by up to a half, and a new request ends it.
const REPLAY_EVERY: Duration = Duration::from_millis(100);
/// The interval of checks for requests that other processes have stored on disk.
const LOOK_EVERY: Duration = Duration::from_secs(20);

/// A request to send.
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

/// The cause of a retry, the delay if the receiver named one, and the probe that checks whether the receiver is back.
pub(super) struct Retry {
    pub(super) after: Option<Duration>,
    pub(super) cause: String,
    pub(super) probe: Probe,
}

/// The result of delivering a request.
pub(super) enum Ended {
    /// The receiver has answered the whole request.
    Answered,
    /// The rest of the request is pending again.
    Retry(Retry),
    /// A command stopped the worker; the rest of the request is pending again.
    Stopped(Stopped),
}

/// Commands to a worker.
pub(super) enum Command {
    /// The outbox has new requests.
    Look,
    /// Ends the backoff, if there is one.
    Hurry,
    /// Answers when no request is pending in memory.
    TellWhenEmpty(oneshot::Sender<()>),
    /// Stops taking requests from disk, and ends the worker when no request is pending in memory.
    Retire,
    /// Stops sending, and answers.
    Stop(Stop, oneshot::Sender<()>),
}

/// The ways to stop a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Stops after the request in flight.
    Finish,
    /// Stops at once. Pending requests are stored on disk; each further command of this kind stores those added since.
    StoreRest,
    /// Stops at once. Another worker continues with the same outbox.
    Yield,
}

/// The way in which a command stopped the worker, and the channel for the answer.
pub(super) type Stopped = (Stop, oneshot::Sender<()>);

/// An event that wakes a waiting worker.
pub(super) enum Event {
    Look,
    Hurry,
    Stop(Stopped),
}

/// The commands that a worker receives.
pub(super) struct Inbox {
    commands: UnboundedReceiver<Command>,
    queue: Rc<RefCell<Queue>>,
    /// Channels to notify when no request is pending in memory.
    when_empty: Vec<oneshot::Sender<()>>,
    is_retired: bool,
}

impl Inbox {
    /// Waits for the next event. Cancel-safe.
    pub(super) async fn next(&mut self) -> Event {
        loop {
            match self.commands.recv().await {
                Some(Command::Look) => {
                    self.queue.borrow_mut().look_sent = false;
                    return Event::Look;
                }
                Some(Command::Hurry) => return Event::Hurry,
                Some(Command::TellWhenEmpty(answer)) => {
                    // Most callers time out quickly and ask again, so closed channels are removed.
                    self.when_empty.retain(|waiting| !waiting.is_closed());
                    self.when_empty.push(answer);
                    self.tell_if_empty();
                }
                Some(Command::Retire) => {
                    self.is_retired = true;
                    return Event::Look;
                }
                Some(Command::Stop(stop, answer)) => return Event::Stop((stop, answer)),
                // The handle is dropped after the worker has ended, or with the thread.
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
    pub(super) layout: Layout,
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
        layout: Layout,
        queue: Rc<RefCell<Queue>>,
        account: Arc<Account>,
        disk: Option<Disk>,
        commands: UnboundedReceiver<Command>,
    ) -> Self {
        let inbox = Inbox { commands, queue: queue.clone(), when_empty: Vec::new(), is_retired: false };
        let failures = Failures::new(format!("{} to {backend}", signal.name()));
        Worker { signal, backend: self_metrics::backend(backend), layout, queue, account, disk, inbox, failures }
    }

    /// Runs the worker until it has stopped or, once retired, has sent everything. `yielded` signals that the previous
    /// worker of the outbox has stopped.
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

    /// Sends until a command stops the worker. `None` if it was retired and has sent everything.
    async fn send_all(&mut self, transport: &mut Transport) -> Option<Stopped> {
        let mut backoff = Backoff::new(FIRST_WAIT, LONGEST_WAIT);
        // True if the next attempt follows a successful probe.
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
                    // If a probe succeeded just before this failure, probes do not detect failures of this kind.
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
                    // Requests from disk are sent at a limited rate, because the receiver has just recovered and other
                    // processes send theirs.
                    if stored { self.wait(REPLAY_EVERY).await } else { None }
                }
            };
            if stopped.is_some() {
                return stopped;
            }
        }
    }

    /// Takes the next request; `None` if there is none. New requests are sent before those on disk; a retired worker
    /// takes none from disk.
    async fn next(&mut self) -> Option<Work> {
        let live = self.queue.borrow_mut().outbox.send();
        match (live, &self.disk) {
            (Some(batch), _) => Some(Work::Live(batch)),
            (None, Some(disk)) if !self.inbox.is_retired => disk.next().await.map(Work::Stored),
            (None, _) => None,
        }
    }

    /// Waits for new requests or, if there is a spool, for `time` at most, reduced by jitter. Returns at once if a
    /// request is pending. Returns `Some` if a command stops the worker.
    async fn wait(&mut self, time: Duration) -> Option<Stopped> {
        if !self.queue.borrow().outbox.is_empty() {
            return None;
        }
        // With jitter, so that many processes do not reach one receiver at the same moment.
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

    /// Waits until a retry is due or a probe succeeds. Pending requests are stored on disk meanwhile, if there is a
    /// spool, where they survive this process. Returns whether a probe succeeded; fails if a command stops the worker.
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

    /// Stores pending requests on disk, if there is a spool, until the spool refuses one. A refused request stays in
    /// memory.
    pub(super) async fn store_all(&mut self) {
        let Some(disk) = &self.disk else { return };
        loop {
            let next = self.queue.borrow_mut().outbox.send();
            let Some(batch) = next else { break };
            if let Err(refused) = disk.put(&batch, &self.account).await {
                self.failures.complain(refused.reason.name(), &format!("{refused}; keeping the data in memory"));
                self.queue.borrow_mut().outbox.back();
                break;
            }
            self.queue.borrow_mut().outbox.sent();
        }
        self.inbox.tell_if_empty();
    }

    /// Notes and reports a failed attempt.
    fn failed(&mut self, cause: &str) {
        self.failures.failed(cause);
        self.queue.borrow_mut().is_failing = true;
    }
}

/// Probes a receiver until it is back.
async fn is_back(transport: &mut Transport, probe: Probe) {
    let mut every = PROBE_EVERY;
    loop {
        // With jitter, so that many processes do not reach one receiver at the same moment.
        tokio::time::sleep(every.mul_f64(1.0 - 0.5 * ids::random() as f64 / u64::MAX as f64)).await;
        let began = Instant::now();
        if transport.probe(probe).await {
            return;
        }
        // A probe without any answer may have left a name lookup running, so such probes become rarer.
        if began.elapsed() > PROBE_EVERY {
            every *= 2;
        }
    }
}
