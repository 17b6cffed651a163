//! One signal on its way to one receiver: requests wait, are sent one after the other, and again if need be.
//!
//! A [`Worker`] is a task that owns the transport, the access to the disk and what is known about failures. It does one thing
//! at a time: it sends a request, reads from the disk or writes to it, or waits. [`ExportQueue`] is its handle: it adds
//! requests to the outbox, which both share, and gives [`Command`]s over a channel. Requests do not go through the channel,
//! because the outbox has to make room for each of them at once.
//!
//! A request is in one of these states, and its items count as it says (`account`):
//!
//! ```text
//!  waiting (Pending)       in the outbox; evicted if there is no room for newer ones
//!  in flight (Pending)     in the outbox too, and not evicted; after a failure it waits again in its old place, without the
//!                          parts that the receiver has answered for
//!  being written (Pending) as in flight; nothing interrupts the writing, so that no request is on disk and in memory
//!  on disk (Spooled)       a file of the spool; evicted, expired, damaged or removed by others it is lost
//!  replayed (Spooled)      read from the disk and in flight; its file stays until the receiver has answered for all of it
//!  answered                accepted, unconfirmed, refused or rejected: it leaves the outbox, or its file is removed
//! ```
//!
//! The worker sends until a command stops it ([`Stop`]): at a reload it leaves what waits to its successor, at the end of the
//! process it finishes the request in flight or puts everything on disk.

mod deliver;
mod failures;
mod worker;

#[cfg(all(test, not(miri)))]
mod tests;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use self::worker::{Command, Stop, Worker};
use super::disk::Disk;
use super::outbox::{Batch, Outbox, Pool};
use super::size::Size;
use super::split::{Form, split};
use crate::config::{Protocol, Signal};
use crate::export::account::{Account, State};
use crate::export::self_metrics::Reason;
use crate::export::transport::Transport;

/// A receiver over OTLP.
pub(crate) struct OtlpReceiver {
    pub(crate) signal: Signal,
    /// Its address without secrets, as in `http://localhost:4318/v1/traces`.
    pub(crate) backend: String,
    pub(crate) protocol: Protocol,
    pub(crate) transport: Box<Transport>,
    /// The most items that may wait.
    pub(crate) most_items: u64,
    /// Where what cannot be sent waits.
    pub(crate) disk: Option<Disk>,
}

/// The handle of a worker.
pub(super) struct ExportQueue {
    form: Form,
    queue: Rc<RefCell<Queue>>,
    account: Arc<Account>,
    disk: Option<Disk>,
    commands: UnboundedSender<Command>,
}

/// What a worker and those who fill its outbox share. Both run on the export thread.
struct Queue {
    outbox: Outbox,
    size: Size,
    /// Whether the last attempt failed.
    is_failing: bool,
    /// Whether a `Look` is on its way to the worker.
    look_sent: bool,
}

impl ExportQueue {
    /// Starts to send what comes. Takes over what waits for `old`, if there is one, and its account. What that was just
    /// sending may arrive twice.
    pub(super) fn start(receiver: OtlpReceiver, pool: &Rc<Pool>, old: Option<&ExportQueue>) -> Self {
        let OtlpReceiver { signal, backend, protocol, mut transport, most_items, disk } = receiver;
        let form = Form { json: is_json(protocol), metrics: signal == Signal::Metrics };
        let (commands, receiver) = unbounded_channel();
        let (queue, account, yielded) = match old {
            Some(old) => {
                old.queue.borrow_mut().outbox.set_most_items(most_items);
                (old.queue.clone(), old.account.clone(), Some(old.stop(Stop::Yield)))
            }
            None => {
                let outbox = Outbox::new(pool.clone(), most_items);
                let size = Size::new(outbox.longest_request());
                let queue = Queue { outbox, size, is_failing: false, look_sent: false };
                (Rc::new(RefCell::new(queue)), Arc::default(), None)
            }
        };
        let mut worker = Worker::new(signal, &backend, form, queue.clone(), account.clone(), disk.clone(), receiver);
        if let Err(problem) = transport.check_files() {
            worker.failures.complain("files", &problem);
        }
        tokio::task::spawn_local(worker.run(transport, yielded));
        ExportQueue { form, queue, account, disk, commands }
    }

    /// Whether requests that wait here can go to a receiver of this protocol.
    pub(super) fn suits(&self, protocol: Protocol) -> bool {
        self.form.json == is_json(protocol)
    }

    /// Whether requests are JSON.
    pub(super) fn is_json(&self) -> bool {
        self.form.json
    }

    /// Adds a request, in parts if it is too large. Older ones make room for it.
    pub(super) fn push(&self, batch: Batch) {
        self.account.add(batch.items, State::Pending);
        let mut queue = self.queue.borrow_mut();
        let parts = split(batch, self.form, queue.size.now());
        let evicted = parts.into_iter().map(|part| queue.outbox.push(part)).sum();
        self.account.pass(evicted, State::Pending, State::Dropped(Reason::ExportQueueFull));
        if !std::mem::replace(&mut queue.look_sent, true) {
            let _ = self.commands.send(Command::Look);
        }
    }

    /// What became of its items until now.
    pub(super) fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// Whether the receiver works, and has no room for so many bytes more. While it does not, older requests make room.
    pub(super) fn is_busy(&self, bytes: usize) -> bool {
        let queue = self.queue.borrow();
        !queue.is_failing && queue.outbox.is_busy(bytes)
    }

    /// The largest request that the receiver is sent.
    pub(super) fn longest_request(&self) -> usize {
        self.queue.borrow().size.now()
    }

    /// Bytes that wait or are being sent.
    pub(super) fn bytes(&self) -> usize {
        self.queue.borrow().outbox.held().bytes
    }

    /// Another queue is in the place of this one, which only sends what it has, and ends.
    pub(super) fn retire(&self) {
        let _ = self.commands.send(Command::Retire);
    }

    /// Whether its worker has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.commands.is_closed()
    }

    /// Has it try again at once, if it is waiting to.
    pub(super) fn hurry(&self) {
        let _ = self.commands.send(Command::Hurry);
    }

    /// Looks whether what was put on disk is still there.
    pub(super) async fn verify(&self) {
        if let Some(disk) = &self.disk {
            disk.verify().await;
        }
    }

    /// Bytes on disk, if that is where its requests wait.
    pub(super) fn disk_bytes(&self) -> Option<u64> {
        self.disk.as_ref().map(Disk::bytes)
    }

    /// Bytes that the disk may hold.
    pub(super) fn disk_capacity(&self) -> Option<u64> {
        self.disk.as_ref().map(Disk::capacity)
    }

    /// The most items that may wait, if their number is limited.
    pub(super) fn most_items(&self) -> Option<u64> {
        self.queue.borrow().outbox.most_items()
    }

    /// Waits until nothing waits in memory any more. What waits on disk is not waited for.
    pub(super) async fn emptied(&self) {
        while !self.queue.borrow().outbox.is_empty() {
            let (answer, answered) = oneshot::channel();
            let _ = self.commands.send(Command::TellWhenEmpty(answer));
            if answered.await.is_err() {
                // The worker has ended: what is left stays.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Nothing will be sent any more: waits until the request in flight is dealt with. The next process would otherwise find
    /// it on disk and send it again.
    pub(super) async fn settled(&self) {
        let _ = self.stop(Stop::Finish).await;
    }

    /// Nothing will be sent any more: puts on disk what waits or is being sent, if there is one. What the receiver has got of
    /// it without having said so, it will get twice.
    pub(super) async fn store_rest(&self) {
        if self.disk.is_some() {
            let _ = self.stop(Stop::StoreRest).await;
        }
    }

    /// The answer comes when the worker has stopped; an error, if it had ended before.
    fn stop(&self, stop: Stop) -> oneshot::Receiver<()> {
        let (answer, answered) = oneshot::channel();
        let _ = self.commands.send(Command::Stop(stop, answer));
        answered
    }
}

fn is_json(protocol: Protocol) -> bool {
    protocol == Protocol::HttpJson
}
