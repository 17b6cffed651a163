//! The source of log records.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::Notify;

use super::outbox::{Pool, packed};
use super::route::{Forms, Routes};
use super::signal_pipeline::{Batcher, Content, Found, Source};
use crate::config::Signal;
use crate::encode::json;
use crate::encode::logs::LogBatch;
use crate::encode::resource::EncodedResource;
use crate::export::account::{Counts, State};
use crate::export::self_metrics::Reason;
use crate::logs::{LogRecord, Logs};

/// The maximum number of records taken at a time, so that requests are sent in between.
const PORTION: usize = 8_192;

pub(super) struct Records {
    logs: Option<Arc<Logs>>,
    pool: Rc<Pool>,
    /// The bytes reserved for the queue of records, whatever requests use.
    queue_bytes: usize,
}

/// The records of the next request.
pub(super) struct RecordContent {
    batch: LogBatch,
    /// The records as owned data, if a route needs owned data.
    plain: Option<Vec<LogRecord>>,
    wants_batch: bool,
    /// The approximate bytes of the owned data.
    plain_bytes: usize,
}

impl Records {
    pub(super) fn new(pool: Rc<Pool>, queue_bytes: usize) -> Self {
        Records { logs: None, pool, queue_bytes }
    }

    /// Returns the notification that records begin to fill their queue; `None` if no records are queued for export.
    pub(super) fn filling(&self) -> Option<Arc<Notify>> {
        self.logs.as_ref().and_then(|logs| logs.filling())
    }
}

impl Source for Records {
    const SIGNAL: Signal = Signal::Logs;
    type Feed = Arc<Logs>;
    type Content = RecordContent;

    fn start(&mut self, logs: Arc<Logs>) {
        self.logs = Some(logs);
    }

    fn is_polled(&self) -> bool {
        self.logs.is_some()
    }

    fn take(&mut self, routes: &Routes, batcher: &mut Batcher<RecordContent>) -> Found {
        let Some(logs) = &self.logs else { return Found::Nothing };
        let found = take_portion(logs, routes, batcher);
        // Memory that requests do not use now is lent to bursts of records.
        logs.set_queue_bytes(self.queue_bytes + self.pool.free() / 2);
        found
    }

    fn close(&self) {
        self.logs.iter().for_each(|logs| logs.end());
    }

    /// Counts records that are still queued, and those that the full queue dropped.
    fn untaken(&self) -> Counts {
        let (mut counts, made) = (Counts::default(), self.logs.as_ref().map(|logs| logs.counts()).unwrap_or_default());
        counts.add(made.waiting, State::Pending);
        counts.add(made.dropped, State::Dropped(Reason::QueueFull));
        counts
    }
}

fn take_portion(logs: &Logs, routes: &Routes, batcher: &mut Batcher<RecordContent>) -> Found {
    for taken in 0..PORTION {
        if batcher.is_empty() && routes.are_busy(2 * batcher.longest()) {
            return Found::More;
        }
        let Some(record) = logs.next() else {
            return if taken == 0 { Found::Nothing } else { Found::Some };
        };
        batcher.add(routes, |content| content.add(record));
    }
    Found::More
}

impl RecordContent {
    pub(super) fn new(resource: &EncodedResource) -> Self {
        RecordContent { batch: LogBatch::new(resource), plain: None, wants_batch: true, plain_bytes: 0 }
    }

    fn add(&mut self, record: LogRecord) {
        if self.wants_batch {
            self.batch.add(&record);
        }
        if let Some(plain) = &mut self.plain {
            self.plain_bytes += record.bytes();
            plain.push(record);
        }
    }
}

impl Content for RecordContent {
    fn want(&mut self, protobuf: bool, plain: bool) {
        self.wants_batch = protobuf;
        self.plain = plain.then(Vec::new);
    }

    fn bytes(&self) -> usize {
        self.batch.bytes().max(self.plain_bytes)
    }

    fn hand_over(&mut self, items: u64, resource: &EncodedResource, routes: &Routes) {
        let plain = self.plain.as_mut().map(std::mem::take).unwrap_or_default();
        let batch = RefCell::new(&mut self.batch);
        routes.push(&Forms {
            items,
            protobuf: &|| packed(batch.borrow_mut().take(Vec::new())),
            json: &|| packed(json::logs_request(resource, &plain)),
            // The console shows the lines that were written when the events happened.
            text: &String::new,
            spans: None,
        });
        if !self.batch.is_empty() {
            // No route has taken the protobuf request, so it is discarded.
            self.batch.take(Vec::new());
        }
        self.plain_bytes = 0;
    }
}
