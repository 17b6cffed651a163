//! Spans on their way from memory to requests.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::exporter::Together;
use super::outbox::{Pool, packed};
use super::size::longest_request;
use super::way::{Forms, Receiver, Ways};
use crate::config::Batch;
use crate::config::redact::Redact;
use crate::declare::value::OwnedValue;
use crate::encode::json;
use crate::encode::resource::EncodedResource;
use crate::encode::trace::TraceBatch;
use crate::export::account::{Counts, State};
use crate::record::finished::{Attribute, FinishedSpan};
use crate::record::recorder::Accounting;
use crate::trace::foreign::{self, ForeignSpan};
use crate::trace::recording::{Recording, Taken};
use crate::trace::tree;

/// What there was to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Found {
    Nothing,
    Some,
    /// Some, and more for which there is no room yet.
    More,
}

/// What is to be done with spans.
pub(crate) struct Traces {
    /// Spans as they are recorded, if that has just been switched on.
    pub(crate) recording: Option<Recording>,
    /// Where they go, if that has changed.
    pub(crate) receivers: Option<Vec<Receiver>>,
    pub(crate) batch: Batch,
}

pub(super) struct Spans {
    resource: EncodedResource,
    redact: Option<Redact>,
    recording: Option<Recording>,
    /// What was counted before this collection began.
    before: Accounting,
    others_before: foreign::Counts,
    /// Markers of spans that are still open: they leave as spans do, and count as such.
    markers: u64,
    ways: Ways,
    waiting: Waiting,
    size: usize,
    longest: usize,
    pub(super) delay: Duration,
}

/// Spans that wait for a request.
struct Waiting {
    batch: TraceBatch,
    /// The same as plain data, if anybody wants that.
    plain: Option<Together>,
    wants_batch: bool,
    count: usize,
    /// About as many bytes as the plain data will take.
    plain_bytes: usize,
    since: Option<Instant>,
}

/// What the recorder and the queue of others counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Made {
    pub(super) ours: Accounting,
    pub(super) others: foreign::Counts,
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
    pub(super) fn new(resource: EncodedResource, redact: Option<Redact>, pool: Rc<Pool>) -> Self {
        let (batch, longest) = (TraceBatch::new(&resource), longest_request(pool.most()));
        Spans {
            resource,
            redact,
            recording: None,
            before: Accounting::default(),
            others_before: foreign::Counts::default(),
            markers: 0,
            ways: Ways::new(pool),
            waiting: Waiting { batch, plain: None, wants_batch: true, count: 0, plain_bytes: 0, since: None },
            size: 1,
            longest,
            delay: Duration::MAX,
        }
    }

    pub(super) fn change(&mut self, traces: Traces) {
        self.take(true);
        if let Some(recording) = traces.recording {
            self.before = recording.before();
            self.others_before = foreign::counts();
            self.recording = Some(recording);
        }
        if let Some(receivers) = traces.receivers {
            self.ways.replace(receivers, &self.resource);
            self.waiting.wants_batch = self.ways.want_protobuf();
            self.waiting.plain = self.ways.want_plain().then(Together::default);
        }
        (self.size, self.delay) = (traces.batch.size.max(1) as usize, traces.batch.delay);
    }

    pub(super) fn is_on(&self) -> bool {
        self.recording.is_some()
    }

    /// Takes the spans that have ended. Those that are too few for a request wait for others, unless it is urgent.
    /// If those that were taken before have not been sent, and the receiver is well, the rest stays where it is.
    pub(super) fn take(&mut self, urgent: bool) -> Found {
        let Spans { resource, redact, recording, ways, waiting, size, markers, .. } = self;
        let longest = self.longest.min(ways.longest_request());
        let Some(recording) = recording else { return Found::Nothing };
        let redact = redact.as_ref();
        let mut any = false;
        let has_room = || !ways.are_busy(2 * longest);
        let all = recording.take(has_room, |taken| {
            any = true;
            *markers += u64::from(matches!(taken, Taken::Marker(_)));
            waiting.add(&taken, redact);
            if waiting.is_full(*size, longest) {
                waiting.hand_over(ways, resource);
            }
        });
        foreign::take(|span| {
            any = true;
            waiting.add_other(span, redact);
            if waiting.is_full(*size, longest) {
                waiting.hand_over(ways, resource);
            }
        });
        if waiting.is_due(urgent, self.delay) {
            waiting.hand_over(ways, resource);
        }
        match (all, any) {
            (false, _) => Found::More,
            (true, true) => Found::Some,
            (true, false) => Found::Nothing,
        }
    }

    /// Takes the spans that are open, as unfinished.
    pub(super) fn take_unfinished(&mut self) {
        let Spans { recording, redact, waiting, markers, .. } = self;
        if let Some(recording) = recording {
            recording.take_unfinished(|taken| {
                *markers += 1;
                waiting.add(&taken, redact.as_ref());
            });
        }
    }

    /// The names of spans that are open.
    pub(super) fn open_names(&self) -> Vec<&'static str> {
        self.recording.as_ref().map_or_else(Vec::new, Recording::open_names)
    }

    /// Nothing new comes in any more; what has ended can still be taken.
    pub(super) fn close(&self) {
        self.recording.iter().for_each(Recording::close);
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

    pub(super) async fn emptied(&self) {
        self.ways.emptied().await;
    }

    pub(super) fn end(&self, deadline: Instant) -> Vec<oneshot::Receiver<()>> {
        self.ways.end(deadline)
    }

    pub(super) fn hurry(&self) {
        self.ways.hurry();
    }

    /// What became of those that were taken.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = self.ways.counts();
        counts.add(self.waiting.count as u64, State::Pending);
        counts
    }

    /// Bytes in the spool, if there is one.
    pub(super) fn disk_bytes(&self) -> Option<u64> {
        self.ways.disk_bytes()
    }

    /// Bytes that wait to be sent.
    pub(super) fn bytes(&self) -> u64 {
        // A batch without spans has a beginning already, which nobody waits for.
        let batch = &self.waiting.batch;
        self.ways.bytes() + if batch.is_empty() { 0 } else { batch.bytes() as u64 }
    }

    /// What was counted since this collection began.
    pub(super) fn made(&self) -> Made {
        let Some(recording) = &self.recording else { return Made::default() };
        let (now, before) = (recording.accounting(), self.before);
        let ours = Accounting {
            ended: now.ended - before.ended + before.buffered - (now.ended_again - before.ended_again),
            dropped: now.dropped.since(&before.dropped),
            ..now
        };
        let (now, before) = (foreign::counts(), self.others_before);
        let others = foreign::Counts {
            ended: now.ended - before.ended + before.waiting,
            dropped: now.dropped - before.dropped,
            waiting: now.waiting,
        };
        Made { ours, others, markers: self.markers }
    }
}

impl Waiting {
    fn add(&mut self, taken: &Taken<'_>, redact: Option<&Redact>) {
        self.count += 1;
        match taken {
            // The short way: no span is ever made of it.
            Taken::Record(record, converter) if redact.is_none() && self.plain.is_none() => {
                self.batch.record(record, converter);
            }
            _ => {
                let mut span = taken.finished();
                redact.iter().for_each(|redact| redact.span(&mut span));
                if self.wants_batch {
                    self.batch.finished(&span);
                }
                if let Some(plain) = &mut self.plain {
                    self.plain_bytes += weight(&span);
                    plain.ours.push(span);
                }
            }
        }
    }

    fn add_other(&mut self, mut span: ForeignSpan, redact: Option<&Redact>) {
        self.count += 1;
        if let Some(redact) = redact {
            span.change_texts(&|name, text| redact.instead(name, text));
        }
        if self.wants_batch {
            self.batch.foreign(&span);
        }
        if let Some(plain) = &mut self.plain {
            self.plain_bytes += span.bytes();
            plain.others.push(span);
        }
    }

    fn is_full(&self, size: usize, longest: usize) -> bool {
        self.count >= size || self.batch.bytes().max(self.plain_bytes) >= longest
    }

    /// Whether they have waited long enough.
    fn is_due(&mut self, urgent: bool, delay: Duration) -> bool {
        if self.count == 0 {
            self.since = None;
            return false;
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        urgent || since.elapsed() >= delay
    }

    /// Hands them to every receiver.
    fn hand_over(&mut self, ways: &Ways, resource: &EncodedResource) {
        let plain = Arc::new(self.plain.as_mut().map(std::mem::take).unwrap_or_default());
        let batch = RefCell::new(&mut self.batch);
        ways.push(&Forms {
            items: self.count as u64,
            protobuf: &|| packed(batch.borrow_mut().take(Vec::new())),
            json: &|| packed(json::trace_request(resource, &plain.ours, &plain.others)),
            text: &|| tree::timed(&plain.ours, &plain.others),
            spans: Some(&plain),
        });
        if ways.is_empty() {
            // Nobody is there to take them.
            self.batch.take(Vec::new());
        }
        (self.count, self.plain_bytes, self.since) = (0, 0, None);
    }
}

/// About as many bytes as a span takes as JSON.
fn weight(span: &FinishedSpan) -> usize {
    let of = |attributes: &[Attribute]| -> usize {
        let text = |value: &OwnedValue| if let OwnedValue::Str(text) = value { text.len() } else { 20 };
        attributes.iter().map(|attribute| 50 + attribute.key.name.len() + text(&attribute.value)).sum()
    };
    let events = span.events.iter().map(|event| 100 + event.name.len() + of(&event.attributes)).sum::<usize>();
    400 + span.name.len() + of(&span.attributes) + events + 120 * span.links.len()
}
