//! Log records on their way from memory to requests.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::outbox::{Pool, packed};
use super::size::longest_request;
use super::spans::Found;
use super::way::{Forms, Receiver, Ways};
use crate::config::Batch;
use crate::encode::json;
use crate::encode::logs::LogBatch;
use crate::encode::resource::EncodedResource;
use crate::export::account::{Counts, State};
use crate::export::own::Reason;
use crate::logs::{self, LogRecord};

/// Records that are taken at a time.
const PORTION: usize = 8_192;

/// What is to be done with log records.
pub(crate) struct LogsChange {
    /// Records as they are made, if that has just been switched on.
    pub(crate) logs: Option<Arc<logs::Logs>>,
    /// Where they go, if that has changed.
    pub(crate) receivers: Option<Vec<Receiver>>,
    pub(crate) batch: Batch,
}

pub(super) struct Records {
    resource: EncodedResource,
    logs: Option<Arc<logs::Logs>>,
    pool: Rc<Pool>,
    ways: Ways,
    /// What the queue of records may hold, however much requests use.
    queue_bytes: usize,
    batch: LogBatch,
    /// The same as plain data, if anybody wants that.
    plain: Option<Vec<LogRecord>>,
    wants_batch: bool,
    count: usize,
    /// About as many bytes as the plain data will take.
    plain_bytes: usize,
    since: Option<Instant>,
    size: usize,
    longest: usize,
    pub(super) delay: Duration,
}

impl Records {
    pub(super) fn new(resource: EncodedResource, pool: Rc<Pool>, queue_bytes: usize) -> Self {
        let (batch, longest) = (LogBatch::new(&resource), longest_request(pool.most()));
        Records {
            resource,
            logs: None,
            ways: Ways::new(pool.clone()),
            pool,
            queue_bytes,
            batch,
            plain: None,
            wants_batch: true,
            count: 0,
            plain_bytes: 0,
            since: None,
            size: 1,
            longest,
            delay: Duration::MAX,
        }
    }

    pub(super) fn change(&mut self, change: LogsChange) {
        self.take(true);
        if change.logs.is_some() {
            self.logs = change.logs;
        }
        if let Some(receivers) = change.receivers {
            self.ways.replace(receivers, &self.resource);
            self.wants_batch = self.ways.want_protobuf();
            self.plain = self.ways.want_plain().then(Vec::new);
        }
        (self.size, self.delay) = (change.batch.size.max(1) as usize, change.batch.delay);
    }

    pub(super) fn is_on(&self) -> bool {
        self.logs.is_some()
    }

    /// Takes the records that were made. Those that are too few for a request wait for others, unless it is urgent.
    /// If those that were taken before have not been sent, and the receiver is well, the rest stays where it is.
    pub(super) fn take(&mut self, urgent: bool) -> Found {
        let Some(logs) = self.logs.clone() else { return Found::Nothing };
        let found = self.take_some(&logs);
        // What requests do not use now can hold records that come all at once.
        logs.set_queue_bytes(self.queue_bytes + self.pool.free() / 2);
        if self.count > 0 {
            let since = *self.since.get_or_insert_with(Instant::now);
            if urgent || since.elapsed() >= self.delay {
                self.hand_over();
            }
        }
        found
    }

    /// Takes no more than a portion, so that those that were taken are sent meanwhile.
    fn take_some(&mut self, logs: &logs::Logs) -> Found {
        let longest = self.longest.min(self.ways.longest_request());
        for taken in 0..PORTION {
            if self.count == 0 && self.ways.are_busy(2 * self.longest) {
                return Found::More;
            }
            let Some(record) = logs.next() else {
                return if taken == 0 { Found::Nothing } else { Found::Some };
            };
            self.add(record);
            if self.count >= self.size || self.batch.bytes().max(self.plain_bytes) >= longest {
                self.hand_over();
            }
        }
        Found::More
    }

    /// Told when records begin to fill their queue.
    pub(super) fn filling(&self) -> Option<Arc<Notify>> {
        self.logs.as_ref().and_then(|logs| logs.filling())
    }

    fn add(&mut self, record: LogRecord) {
        self.count += 1;
        if self.wants_batch {
            self.batch.add(&record);
        }
        if let Some(plain) = &mut self.plain {
            self.plain_bytes += record.bytes();
            plain.push(record);
        }
    }

    /// Hands them to every receiver.
    fn hand_over(&mut self) {
        let plain = self.plain.as_mut().map(std::mem::take).unwrap_or_default();
        let batch = RefCell::new(&mut self.batch);
        let resource = &self.resource;
        self.ways.push(&Forms {
            items: self.count as u64,
            protobuf: &|| packed(batch.borrow_mut().take(Vec::new())),
            json: &|| packed(json::logs_request(resource, &plain)),
            // People read the lines that were written when the events happened.
            text: &String::new,
            spans: None,
        });
        (self.count, self.plain_bytes, self.since) = (0, 0, None);
    }

    /// Nothing new comes in any more; what was made can still be taken.
    pub(super) fn close(&self) {
        self.logs.iter().for_each(|logs| logs.end());
    }

    /// Bytes in the spool, if there is one.
    pub(super) fn disk_bytes(&self) -> Option<u64> {
        self.ways.disk_bytes()
    }

    /// Bytes that wait to be sent.
    pub(super) fn bytes(&self) -> u64 {
        self.ways.bytes() + self.batch.bytes() as u64
    }

    pub(super) async fn store_rest(&self) {
        self.ways.store_rest().await;
    }

    pub(super) async fn verify(&self) {
        self.ways.verify().await;
    }

    pub(super) async fn settled(&self) {
        self.ways.settled().await;
    }

    pub(super) fn hurry(&self) {
        self.ways.hurry();
    }

    pub(super) async fn emptied(&self) {
        self.ways.emptied().await;
    }

    /// What became of them; those that found no place in the queue are without room.
    pub(super) fn counts(&self) -> Counts {
        let (mut counts, made) = (self.ways.counts(), self.logs.as_ref().map(|logs| logs.counts()).unwrap_or_default());
        counts.add(self.count as u64 + made.waiting, State::Pending);
        counts.add(made.dropped, State::Dropped(Reason::QueueFull));
        counts
    }
}
