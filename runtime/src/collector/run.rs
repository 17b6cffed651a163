//! What the collector's thread does: takes, encodes, hands over.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::mpsc::UnboundedReceiver;

use super::lane::{Counts, Lane};
use super::outbox::Batch;
use super::{Command, Progress};
use crate::config::Protocol;
use crate::console;
use crate::encode::json;
use crate::encode::metrics::metrics_request;
use crate::encode::resource::EncodedResource;
use crate::encode::trace::TraceBatch;
use crate::finished::FinishedSpan;
use crate::reader::Reader;
use crate::recorder::Accounting;
use crate::recording::{Recording, Taken};
use crate::transport::Transport;

/// How often finished spans are taken. Memory for them is bounded, so this decides how many a second there may be.
const TAKE_EVERY: Duration = Duration::from_millis(200);

/// A receiver of one signal.
pub(crate) enum Receiver {
    /// Over OTLP; `what` says of it what goes where.
    Otlp { what: String, protocol: Protocol, transport: Box<Transport> },
    /// People.
    Console,
}

/// All that the collector needs to know.
pub(crate) struct Plan {
    pub(crate) resource: EncodedResource,
    pub(crate) recording: Option<Recording>,
    pub(crate) traces: Vec<Receiver>,
    /// Spans in one request.
    pub(crate) batch_size: usize,
    /// How long spans may wait for others.
    pub(crate) batch_delay: Duration,
    pub(crate) reader: Option<Reader>,
    pub(crate) metrics: Vec<Receiver>,
    pub(crate) interval: Duration,
    /// Bytes that may wait for each receiver.
    pub(crate) limit: usize,
}

/// How a signal goes to one of its receivers.
enum Way {
    /// As protobuf or as JSON.
    Lane(Rc<Lane>, Protocol),
    Console(Cell<u64>),
}

impl Way {
    /// Whether it needs spans as plain data.
    fn wants_plain(&self) -> bool {
        matches!(self, Way::Console(_) | Way::Lane(_, Protocol::HttpJson))
    }

    fn counts(&self) -> Counts {
        match self {
            Way::Lane(lane, _) => lane.counts(),
            Way::Console(shown) => Counts { exported: shown.get(), ..Counts::default() },
        }
    }
}

/// Spans that wait for a request.
struct Spans {
    batch: TraceBatch,
    /// The same as plain data, if anybody wants that.
    plain: Option<Vec<FinishedSpan>>,
    since: Option<Instant>,
}

pub(super) struct Collection {
    /// What was counted before this collection began.
    before: Accounting,
    resource: EncodedResource,
    recording: Option<Recording>,
    traces: Vec<Way>,
    spans: Spans,
    batch_size: usize,
    batch_delay: Duration,
    reader: Option<Reader>,
    metrics: Vec<Way>,
    interval: Duration,
    waiting: Vec<(Rc<Lane>, Box<Transport>)>,
}

impl Collection {
    pub(super) fn new(plan: Plan) -> Self {
        let mut waiting = Vec::new();
        let mut ways = |receivers: Vec<Receiver>| {
            let way = |receiver: Receiver| match receiver {
                Receiver::Console => Way::Console(Cell::new(0)),
                Receiver::Otlp { what, protocol, transport } => {
                    let lane = Lane::new(what, plan.limit);
                    waiting.push((lane.clone(), transport));
                    Way::Lane(lane, protocol)
                }
            };
            receivers.into_iter().map(way).collect::<Vec<_>>()
        };
        let (traces, metrics) = (ways(plan.traces), ways(plan.metrics));
        let plain = traces.iter().any(Way::wants_plain).then(Vec::new);
        let spans = Spans { batch: TraceBatch::new(&plan.resource), plain, since: None };
        Collection {
            before: plan.recording.as_ref().map(Recording::before).unwrap_or_default(),
            spans,
            resource: plan.resource,
            recording: plan.recording,
            traces,
            batch_size: plan.batch_size.max(1),
            batch_delay: plan.batch_delay,
            reader: plan.reader,
            metrics,
            interval: plan.interval,
            waiting,
        }
    }

    /// Runs until it is told to end.
    pub(super) async fn run(mut self, mut told: UnboundedReceiver<Command>) {
        for (lane, transport) in std::mem::take(&mut self.waiting) {
            tokio::task::spawn_local(lane.run(transport));
        }
        let mut take = ticks(TAKE_EVERY.min(self.batch_delay));
        let mut collect = ticks(self.interval);
        loop {
            tokio::select! {
                command = told.recv() => match command {
                    Some(Command::Flush(deadline, answer)) => {
                        // Who asked may have gone.
                        let _ = answer.send(self.flush(deadline).await);
                    }
                    Some(Command::Shutdown(deadline, answer)) => {
                        self.recording.iter().for_each(Recording::close);
                        let _ = answer.send(self.flush(deadline).await);
                        return;
                    }
                    None => return,
                },
                _ = take.tick(), if self.recording.is_some() => self.take(false),
                _ = collect.tick(), if self.reader.is_some() => self.collect(Duration::MAX),
            }
        }
    }

    /// Takes the spans that have ended. Those that are too few for a request wait for others, unless it is urgent.
    fn take(&mut self, urgent: bool) {
        let Some(recording) = &self.recording else { return };
        let (spans, ways, resource) = (&mut self.spans, &self.traces, &self.resource);
        recording.take(|taken| {
            spans.add(&taken);
            if spans.batch.len() >= self.batch_size {
                spans.hand_over(ways, resource);
            }
        });
        let Some(since) = spans.waiting_since() else { return };
        if urgent || since.elapsed() >= self.batch_delay {
            spans.hand_over(ways, resource);
        }
    }

    /// Reads the metrics, with no more patience for their callbacks than given.
    fn collect(&mut self, patience: Duration) {
        let Some(reader) = &mut self.reader else { return };
        let snapshot = reader.snapshot_within(patience);
        let items: u64 = snapshot.metrics.iter().map(|metric| metric.points.len() as u64).sum();
        if items == 0 {
            return;
        }
        for way in &self.metrics {
            match way {
                Way::Console(shown) => {
                    console::metrics(&snapshot);
                    shown.set(shown.get() + items);
                }
                Way::Lane(lane, Protocol::HttpJson) => {
                    lane.push(Batch { bytes: json::metrics_request(&self.resource, &snapshot).into(), items });
                }
                Way::Lane(lane, _) => {
                    lane.push(Batch { bytes: metrics_request(&self.resource, &snapshot).into(), items });
                }
            }
        }
    }

    /// Takes and sends everything, until the deadline.
    async fn flush(&mut self, deadline: Instant) -> Progress {
        self.take(true);
        // A callback that hangs shall leave time to send the rest.
        self.collect(deadline.saturating_duration_since(Instant::now()) / 4);
        let all = async {
            for way in self.traces.iter().chain(&self.metrics) {
                if let Way::Lane(lane, _) = way {
                    lane.emptied().await;
                }
            }
        };
        let complete = tokio::time::timeout_at(deadline.into(), all).await.is_ok();
        let now = self.recording.as_ref().map(Recording::accounting).unwrap_or_default();
        Progress {
            spans: sum(&self.traces),
            points: sum(&self.metrics),
            ended: now.ended - self.before.ended + self.before.buffered,
            dropped: now.dropped.total() - self.before.dropped.total(),
            buffered: now.buffered,
            complete,
        }
    }
}

impl Spans {
    fn add(&mut self, taken: &Taken<'_>) {
        if let Some(plain) = &mut self.plain {
            plain.push(taken.finished());
        }
        match taken {
            Taken::Record(record, converter) => self.batch.record(record, converter),
            Taken::Marker(marker) => self.batch.finished(marker),
        }
    }

    /// Since when the oldest of them waits.
    fn waiting_since(&mut self) -> Option<Instant> {
        if self.batch.is_empty() {
            self.since = None;
            return None;
        }
        Some(*self.since.get_or_insert_with(Instant::now))
    }

    /// Hands them to every receiver.
    fn hand_over(&mut self, ways: &[Way], resource: &EncodedResource) {
        let items = self.batch.len() as u64;
        let bytes = Bytes::from(self.batch.take(Vec::new()));
        let plain = self.plain.as_mut().map(std::mem::take).unwrap_or_default();
        self.since = None;
        for way in ways {
            match way {
                Way::Console(shown) => {
                    console::spans(&plain);
                    shown.set(shown.get() + items);
                }
                Way::Lane(lane, Protocol::HttpJson) => {
                    lane.push(Batch { bytes: json::trace_request(resource, &plain).into(), items });
                }
                Way::Lane(lane, _) => lane.push(Batch { bytes: bytes.clone(), items }),
            }
        }
    }
}

fn sum(ways: &[Way]) -> Counts {
    ways.iter().map(Way::counts).fold(Counts::default(), |sum, counts| Counts {
        exported: sum.exported + counts.exported,
        no_room: sum.no_room + counts.no_room,
        refused: sum.refused + counts.refused,
        waiting: sum.waiting + counts.waiting,
    })
}

/// Ticks that do not pile up while the collector is busy.
fn ticks(every: Duration) -> tokio::time::Interval {
    let every = every.max(Duration::from_millis(1));
    let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + every, every);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    ticks
}
