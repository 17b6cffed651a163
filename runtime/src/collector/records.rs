//! Log records on their way from memory to requests.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::counts::Counts;
use super::outbox::Pool;
use super::spans::longest_request;
use super::way::{Forms, Receiver, Ways};
use crate::config::Batch;
use crate::encode::json;
use crate::encode::logs::LogBatch;
use crate::encode::resource::EncodedResource;
use crate::logs::{self, LogRecord};

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
    ways: Ways,
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
    pub(super) fn new(resource: EncodedResource, pool: Rc<Pool>) -> Self {
        let (batch, longest) = (LogBatch::new(&resource), longest_request(pool.limit()));
        Records {
            resource,
            logs: None,
            ways: Ways::new(pool),
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
    /// Says whether there were any.
    pub(super) fn take(&mut self, urgent: bool) -> bool {
        let Some(logs) = self.logs.take() else { return false };
        let mut any = false;
        logs.take(|record| {
            any = true;
            self.add(record);
            if self.count >= self.size || self.batch.bytes().max(self.plain_bytes) >= self.longest {
                self.hand_over();
            }
        });
        self.logs = Some(logs);
        if self.count == 0 {
            return any;
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        if urgent || since.elapsed() >= self.delay {
            self.hand_over();
        }
        any
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
            protobuf: &|| Bytes::from(batch.borrow_mut().take(Vec::new())),
            json: &|| json::logs_request(resource, &plain).into(),
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
        let (sent, made) = (self.ways.counts(), self.logs.as_ref().map(|logs| logs.counts()).unwrap_or_default());
        Counts { waiting: sent.waiting + self.count as u64 + made.waiting, queue_full: made.dropped, ..sent }
    }
}
