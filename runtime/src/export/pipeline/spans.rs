//! The source of spans.

use std::cell::RefCell;
use std::sync::Arc;

use super::exporter::SpanBatch;
use super::outbox::packed;
use super::route::{Forms, Routes};
use super::signal_pipeline::{Batcher, Content, Found, Pipeline, Source};
use crate::config::Signal;
use crate::config::redact::Redact;
use crate::encode::json;
use crate::encode::resource::EncodedResource;
use crate::encode::trace::TraceBatch;
use crate::record::finished::FinishedSpan;
use crate::record::recorder::Accounting;
use crate::trace::external;
use crate::trace::recording::{Recording, Taken};
use crate::trace::tree;

pub(super) struct Spans {
    redact: Option<Redact>,
    recording: Option<Recording>,
    /// The recorder's counts when this pipeline started.
    before: Accounting,
    others_before: external::Counts,
    /// The number of markers of open spans that were taken. Markers are exported and counted like spans.
    markers: u64,
}

/// The spans of the next request.
pub(super) struct Waiting {
    batch: TraceBatch,
    /// The spans as owned data, if a route needs owned data.
    plain: Option<SpanBatch>,
    wants_batch: bool,
    /// The approximate bytes of the owned data.
    plain_bytes: usize,
}

/// The counts of the recorder and of the queue of third-party spans.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Made {
    pub(super) ours: Accounting,
    pub(super) others: external::Counts,
    pub(super) markers: u64,
}

impl Made {
    pub(super) fn ended(&self) -> u64 {
        self.ours.ended + self.others.ended + self.markers
    }

    pub(super) fn dropped(&self) -> u64 {
        self.ours.dropped.total() + self.others.dropped
    }

    pub(super) fn buffered(&self) -> u64 {
        self.ours.buffered + self.others.waiting
    }
}

impl Spans {
    pub(super) fn new(redact: Option<Redact>) -> Self {
        Spans {
            redact,
            recording: None,
            before: Accounting::default(),
            others_before: external::Counts::default(),
            markers: 0,
        }
    }

    /// The names of open spans.
    pub(super) fn open_names(&self) -> Vec<&'static str> {
        self.recording.as_ref().map_or_else(Vec::new, Recording::open_names)
    }

    /// The counts since this pipeline started.
    pub(super) fn made(&self) -> Made {
        let Some(recording) = &self.recording else { return Made::default() };
        let (now, before) = (recording.accounting(), self.before);
        let ours = Accounting {
            ended: now.ended - before.ended + before.buffered - (now.ended_again - before.ended_again),
            dropped: now.dropped.since(&before.dropped),
            ..now
        };
        let (now, before) = (external::counts(), self.others_before);
        let others = external::Counts {
            ended: now.ended - before.ended + before.waiting,
            dropped: now.dropped - before.dropped,
            waiting: now.waiting,
        };
        Made { ours, others, markers: self.markers }
    }
}

impl Source for Spans {
    const SIGNAL: Signal = Signal::Traces;
    type Feed = Recording;
    type Content = Waiting;

    fn start(&mut self, recording: Recording) {
        self.before = recording.before();
        self.others_before = external::counts();
        self.recording = Some(recording);
    }

    fn is_polled(&self) -> bool {
        self.recording.is_some()
    }

    fn take(&mut self, routes: &Routes, batcher: &mut Batcher<Waiting>) -> Found {
        let Some(recording) = &self.recording else { return Found::Nothing };
        let redact = self.redact.as_ref();
        let mut any = false;
        let longest = batcher.longest();
        let has_room = || !routes.are_busy(2 * longest);
        let all = recording.take(has_room, |taken| {
            any = true;
            self.markers += u64::from(matches!(taken, Taken::Marker(_)));
            batcher.add(routes, |waiting| waiting.add(&taken, redact));
        });
        external::take(|span| {
            any = true;
            batcher.add(routes, |waiting| waiting.add_finished(span, redact));
        });
        match (all, any) {
            (false, _) => Found::More,
            (true, true) => Found::Some,
            (true, false) => Found::Nothing,
        }
    }

    fn close(&self) {
        self.recording.iter().for_each(Recording::close);
    }
}

impl Pipeline<Spans> {
    /// Takes a marker of each open span, which is exported as an unfinished span.
    pub(super) fn take_unfinished(&mut self) {
        let Pipeline { source: Spans { recording, redact, markers, .. }, routes, batcher } = self;
        if let Some(recording) = recording {
            recording.take_unfinished(|taken| {
                *markers += 1;
                batcher.add(routes, |waiting| waiting.add(&taken, redact.as_ref()));
            });
        }
    }
}

impl Waiting {
    pub(super) fn new(resource: &EncodedResource) -> Self {
        Waiting { batch: TraceBatch::new(resource), plain: None, wants_batch: true, plain_bytes: 0 }
    }

    /// Adds a span. Protobuf is encoded from the span's record; owned data is made only if a route needs it.
    fn add(&mut self, taken: &Taken<'_>, redact: Option<&Redact>) {
        let Taken::Record(record, converter) = taken else { return self.add_finished(taken.finished(), redact) };
        match redact {
            _ if !self.wants_batch => {}
            None => self.batch.record(record, converter),
            Some(redact) => self.batch.redacted(record, converter, redact),
        }
        if self.plain.is_some() {
            let mut span = record.finish(converter);
            redact.iter().for_each(|redact| redact.span(&mut span));
            self.keep(span);
        }
    }

    /// Adds a span that is owned data.
    fn add_finished(&mut self, mut span: FinishedSpan, redact: Option<&Redact>) {
        redact.iter().for_each(|redact| redact.span(&mut span));
        if self.wants_batch {
            self.batch.finished(&span);
        }
        self.keep(span);
    }

    fn keep(&mut self, span: FinishedSpan) {
        if let Some(plain) = &mut self.plain {
            self.plain_bytes += span.bytes();
            plain.push(span);
        }
    }
}

impl Content for Waiting {
    fn want(&mut self, protobuf: bool, plain: bool) {
        self.wants_batch = protobuf;
        self.plain = plain.then(SpanBatch::default);
    }

    fn bytes(&self) -> usize {
        self.batch.bytes().max(self.plain_bytes)
    }

    fn hand_over(&mut self, items: u64, resource: &EncodedResource, routes: &Routes) {
        let plain = Arc::new(self.plain.as_mut().map(std::mem::take).unwrap_or_default());
        let batch = RefCell::new(&mut self.batch);
        routes.push(&Forms {
            items,
            protobuf: &|| packed(batch.borrow_mut().take(Vec::new())),
            json: &|| packed(json::trace_request(resource, &plain)),
            text: &|| tree::timed(&plain),
            spans: Some(&plain),
        });
        if !self.batch.is_empty() {
            // No route has taken the protobuf request, so it is discarded.
            self.batch.take(Vec::new());
        }
        self.plain_bytes = 0;
    }
}
