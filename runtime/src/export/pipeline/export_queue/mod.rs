//! The export queue of one signal and one OTLP receiver: sends requests one at a time, and retries them.
//!
//! A [`Worker`] is a task that owns the transport, the access to the disk and the record of failures. The worker does
//! one thing at a time: it sends a request, reads from the disk, writes to the disk, or waits. [`ExportQueue`] is the
//! handle of the worker. The handle adds requests to the outbox, which both share, and sends [`Command`]s over a
//! channel. Requests do not go through the channel, because older requests may have to be evicted for them at once.
//!
//! A request is in one of these states; its items are in the state in brackets (`account`):
//!
//! ```text
//!  queued (Pending)        in the outbox; evicted if there is no room for newer ones
//!  in flight (Pending)     in the outbox too, and never evicted; after a failure it is queued again in its old place,
//!                          without the parts that the receiver has answered
//!  being written (Pending) as in flight; writing is never interrupted, so that no request is on disk and in memory
//!  on disk (Spooled)       a file of the spool; lost if it is evicted, expired, damaged or removed by others
//!  replayed (Spooled)      read from disk and in flight; its file stays until the receiver has answered all of it
//!  answered                accepted, unconfirmed, refused or rejected: it leaves the outbox, or its file is removed
//! ```
//!
//! The worker sends until a command stops it ([`Stop`]): at a reload it leaves pending requests to its successor; at the
//! end of the process it finishes the request in flight, or stores all pending requests on disk.

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
use super::split::{Layout, split};
use crate::config::{Protocol, Signal};
use crate::export::account::{Account, State};
use crate::export::self_metrics::Reason;
use crate::export::transport::Transport;

/// An OTLP receiver.
pub(crate) struct OtlpReceiver {
    pub(crate) signal: Signal,
    /// The receiver's address without secrets, as in `http://localhost:4318/v1/traces`.
    pub(crate) backend: String,
    pub(crate) protocol: Protocol,
    pub(crate) transport: Box<Transport>,
    /// The maximum number of pending items.
    pub(crate) most_items: u64,
    /// The spool, if this receiver uses it.
    pub(crate) disk: Option<Disk>,
}

/// The handle of a worker.
pub(super) struct ExportQueue {
    layout: Layout,
    queue: Rc<RefCell<Queue>>,
    account: Arc<Account>,
    disk: Option<Disk>,
    commands: UnboundedSender<Command>,
}

/// The state that a worker shares with its handle. Both run on the export thread.
struct Queue {
    outbox: Outbox,
    size: Size,
    /// True if the last attempt failed.
    is_failing: bool,
    /// True if the worker has not yet received the last `Look`.
    look_sent: bool,
}

impl ExportQueue {
    /// Starts a queue. Takes over the pending requests of `old`, if there is one, and its account. The request that
    /// `old` has in flight may arrive twice.
    pub(super) fn start(receiver: OtlpReceiver, pool: &Rc<Pool>, old: Option<&ExportQueue>) -> Self {
        let OtlpReceiver { signal, backend, protocol, mut transport, most_items, disk } = receiver;
        let layout = Layout { json: is_json(protocol), metrics: signal == Signal::Metrics };
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
        let mut worker = Worker::new(signal, &backend, layout, queue.clone(), account.clone(), disk.clone(), receiver);
        if let Err(problem) = transport.check_files() {
            worker.failures.complain("files", &problem);
        }
        tokio::task::spawn_local(worker.run(transport, yielded));
        ExportQueue { layout, queue, account, disk, commands }
    }

    /// True if pending requests can be sent to a receiver of this protocol.
    pub(super) fn suits(&self, protocol: Protocol) -> bool {
        self.layout.json == is_json(protocol)
    }

    /// True if requests are JSON.
    pub(super) fn is_json(&self) -> bool {
        self.layout.json
    }

    /// Adds a request, split if it is too large. Evicts older ones if there is no room.
    pub(super) fn push(&self, batch: Batch) {
        self.account.add(batch.items, State::Pending);
        let mut queue = self.queue.borrow_mut();
        let parts = split(batch, self.layout, queue.size.now());
        let evicted = parts.into_iter().map(|part| queue.outbox.push(part)).sum();
        self.account.pass(evicted, State::Pending, State::Dropped(Reason::ExportQueueFull));
        if !std::mem::replace(&mut queue.look_sent, true) {
            let _ = self.commands.send(Command::Look);
        }
    }

    /// The account of the queue's items.
    pub(super) fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// True if the receiver works and its outbox cannot take `bytes` more. A failing receiver is never busy, because
    /// its outbox evicts older requests.
    pub(super) fn is_busy(&self, bytes: usize) -> bool {
        let queue = self.queue.borrow();
        !queue.is_failing && queue.outbox.is_busy(bytes)
    }

    /// The present maximum size of a request for the receiver in bytes.
    pub(super) fn longest_request(&self) -> usize {
        self.queue.borrow().size.now()
    }

    /// The bytes of pending requests, including the one in flight.
    pub(super) fn bytes(&self) -> usize {
        self.queue.borrow().outbox.held().bytes
    }

    /// Retires the queue: the worker sends the pending requests and ends.
    pub(super) fn retire(&self) {
        let _ = self.commands.send(Command::Retire);
    }

    /// True if the worker has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.commands.is_closed()
    }

    /// Ends the backoff, if the worker waits to retry.
    pub(super) fn hurry(&self) {
        let _ = self.commands.send(Command::Hurry);
    }

    /// Counts stored requests as lost if their files are missing on disk.
    pub(super) async fn verify(&self) {
        if let Some(disk) = &self.disk {
            disk.verify().await;
        }
    }

    /// The bytes in the spool, if this queue uses it.
    pub(super) fn disk_bytes(&self) -> Option<u64> {
        self.disk.as_ref().map(Disk::bytes)
    }

    /// The maximum size of the spool in bytes, if this queue uses it.
    pub(super) fn disk_capacity(&self) -> Option<u64> {
        self.disk.as_ref().map(Disk::capacity)
    }

    /// The maximum number of pending items; `None` if it is not limited.
    pub(super) fn most_items(&self) -> Option<u64> {
        self.queue.borrow().outbox.most_items()
    }

    /// Waits until no request is pending in memory. Does not wait for requests on disk. Never completes if the worker
    /// ended with requests pending.
    pub(super) async fn emptied(&self) {
        while !self.queue.borrow().outbox.is_empty() {
            let (answer, answered) = oneshot::channel();
            let _ = self.commands.send(Command::TellWhenEmpty(answer));
            if answered.await.is_err() {
                // The worker has ended, so pending requests are never sent.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Stops sending after the request in flight, and waits for its end. Otherwise the next process could find this
    /// request on disk and send it again.
    pub(super) async fn settled(&self) {
        let _ = self.stop(Stop::Finish).await;
    }

    /// Stops sending and stores pending requests on disk, if there is a spool, including the one in flight. If the
    /// receiver got the request in flight, or a part of it, but has not answered yet, it gets the items again later.
    pub(super) async fn store_rest(&self) {
        if self.disk.is_some() {
            let _ = self.stop(Stop::StoreRest).await;
        }
    }

    /// Stops the worker. The returned channel signals when it has stopped, and fails if it had ended before.
    fn stop(&self, stop: Stop) -> oneshot::Receiver<()> {
        let (answer, answered) = oneshot::channel();
        let _ = self.commands.send(Command::Stop(stop, answer));
        answered
    }
}

fn is_json(protocol: Protocol) -> bool {
    protocol == Protocol::HttpJson
}
