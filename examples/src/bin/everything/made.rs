//! The program's own record of what it emitted, to be compared with what arrived. Only the ids of spans are read back
//! from telemetry. A time is recorded as the moments before and after an action; the exported time has to lie between
//! them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::{Value, json};
use tracecast::Context;

pub(crate) type Attributes = BTreeMap<String, Value>;

/// The moments before and after something, in nanoseconds since 1970.
pub(crate) type Between = [u64; 2];

pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

pub(crate) fn text(text: impl AsRef<str>) -> Value {
    json!({ "string": text.as_ref() })
}

pub(crate) fn int(number: i64) -> Value {
    json!({ "int": number })
}

pub(crate) fn flag(flag: bool) -> Value {
    json!({ "bool": flag })
}

/// A number as text: JSON has no infinity.
pub(crate) fn double(number: f64) -> Value {
    json!({ "double": format!("{number:?}") })
}

pub(crate) fn array(values: impl IntoIterator<Item = Value>) -> Value {
    json!({ "array": values.into_iter().collect::<Vec<_>>() })
}

pub(crate) fn attributes<const N: usize>(attributes: [(&str, Value); N]) -> Attributes {
    attributes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The instrumentation scope.
#[derive(Clone, Default, Serialize)]
pub(crate) struct Scope {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) schema_url: String,
    pub(crate) attributes: Attributes,
}

impl Scope {
    /// The scope of this crate's declarations.
    pub(crate) fn ours() -> Self {
        Scope { name: env!("CARGO_PKG_NAME").into(), version: env!("CARGO_PKG_VERSION").into(), ..Scope::default() }
    }

    /// The scope of spans that are named at run time. Both packages have the workspace's version.
    pub(crate) fn at_run_time() -> Self {
        Scope { name: "tracecast".into(), ..Scope::ours() }
    }
}

#[derive(Clone, Serialize)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) time: Between,
    pub(crate) attributes: Attributes,
    pub(crate) dropped_attributes: u32,
}

/// A link. For Tracecast's links it is not known whether the other span is remote.
#[derive(Clone, Default, Serialize)]
pub(crate) struct Link {
    pub(crate) trace_id: String,
    pub(crate) span_id: String,
    pub(crate) sampled: bool,
    pub(crate) is_remote: Option<bool>,
    pub(crate) trace_state: String,
    pub(crate) attributes: Attributes,
}

impl Link {
    pub(crate) fn to(context: &Context) -> Self {
        Link {
            trace_id: context.trace_id().to_string(),
            span_id: context.span_id().to_string(),
            sampled: context.is_sampled(),
            ..Link::default()
        }
    }
}

#[derive(Clone, Default, Serialize)]
pub(crate) struct Status {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

#[derive(Clone, Default, Serialize)]
pub(crate) struct Span {
    pub(crate) scope: Scope,
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) trace_id: String,
    pub(crate) span_id: String,
    /// Empty for a root.
    pub(crate) parent_span_id: String,
    pub(crate) parent_is_remote: bool,
    pub(crate) trace_state: String,
    pub(crate) start: Between,
    pub(crate) end: Between,
    pub(crate) attributes: Attributes,
    pub(crate) events: Vec<Event>,
    pub(crate) links: Vec<Link>,
    pub(crate) status: Status,
    pub(crate) dropped_attributes: u32,
    pub(crate) dropped_events: u32,
    pub(crate) dropped_links: u32,
}

/// One series: the actions on it in each round.
#[derive(Clone, Default, Serialize)]
pub(crate) struct Point {
    pub(crate) attributes: Attributes,
    /// Values added to a sum, recorded in a histogram or set on a gauge. `null` removes a gauge's value.
    pub(crate) rounds: [Vec<Value>; 2],
}

#[derive(Clone, Serialize)]
pub(crate) struct Metric {
    pub(crate) scope: Scope,
    pub(crate) name: String,
    pub(crate) unit: String,
    pub(crate) description: String,
    /// `sum`, `gauge`, `histogram`, `exponential`, or `durations`: a histogram for which only the range of each value
    /// is known.
    pub(crate) form: &'static str,
    pub(crate) monotonic: bool,
    /// Whether it is cumulative whatever the configuration.
    pub(crate) always_cumulative: bool,
    /// The declared upper bounds of buckets.
    pub(crate) bounds: Option<Vec<f64>>,
    pub(crate) points: Vec<Point>,
}

/// A measurement in a sampled span: of those in one bucket the first is an exemplar.
#[derive(Clone, Serialize)]
pub(crate) struct Sampled {
    pub(crate) metric: &'static str,
    pub(crate) attributes: Attributes,
    pub(crate) round: usize,
    pub(crate) value: Value,
    pub(crate) time: Between,
    pub(crate) trace_id: String,
    pub(crate) span_id: String,
}

#[derive(Clone, Serialize)]
pub(crate) struct Record {
    pub(crate) scope: Scope,
    pub(crate) level: String,
    pub(crate) body: String,
    pub(crate) attributes: Attributes,
    pub(crate) dropped_attributes: u32,
    pub(crate) time: Between,
    pub(crate) trace_id: String,
    pub(crate) span_id: String,
    pub(crate) sampled: bool,
}

#[derive(Default, Serialize)]
pub(crate) struct Made {
    pub(crate) spans: Vec<Span>,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) sampled: Vec<Sampled>,
    pub(crate) logs: Vec<Record>,
}

static MADE: Mutex<Made> =
    Mutex::new(Made { spans: Vec::new(), metrics: Vec::new(), sampled: Vec::new(), logs: Vec::new() });

pub(crate) fn made() -> MutexGuard<'static, Made> {
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the ids of a span, empty if there is none.
pub(crate) fn ids(context: &Context) -> (String, String) {
    if !context.is_valid() {
        return Default::default();
    }
    (context.trace_id().to_string(), context.span_id().to_string())
}

/// Records one span's data, outside and inside the span.
#[derive(Clone, Copy)]
pub(crate) struct Watch(usize);

impl Watch {
    /// Called just before a span starts. Its parent is the current span.
    pub(crate) fn new() -> Self {
        Watch::below(&Context::current())
    }

    /// Called just before a span starts with this parent.
    pub(crate) fn below(parent: &Context) -> Self {
        let (_, parent_span_id) = ids(parent);
        let span = Span {
            scope: Scope::ours(),
            parent_span_id,
            parent_is_remote: parent.is_valid() && parent.is_remote(),
            start: [now(), 0],
            ..Span::default()
        };
        let spans = &mut made().spans;
        spans.push(span);
        Watch(spans.len() - 1)
    }

    pub(crate) fn with(self, change: impl FnOnce(&mut Span)) {
        change(&mut made().spans[self.0]);
    }

    /// Called first inside the span.
    pub(crate) fn inside<const N: usize>(self, name: &str, kind: &'static str, given: [(&str, Value); N]) {
        self.is(&Context::current(), name, kind);
        self.with(|span| span.attributes.extend(attributes(given)));
    }

    /// Called just after the start of a span that is not current.
    pub(crate) fn is(self, context: &Context, name: &str, kind: &'static str) {
        let after = now();
        let (trace_id, span_id) = ids(context);
        self.with(|span| {
            (span.trace_id, span.span_id) = (trace_id, span_id);
            (span.name, span.kind, span.start[1]) = (name.to_owned(), kind, after);
        });
    }

    /// Sets the expected parent, independent of telemetry.
    pub(crate) fn is_child_of(self, parent: Watch) {
        let parent_span_id = made().spans[parent.0].span_id.clone();
        self.with(|span| span.parent_span_id = parent_span_id);
    }

    /// Sets the expected error.
    pub(crate) fn fails(self, error_type: &str, message: &str) {
        self.with(|span| {
            span.attributes.extend(attributes([("error.type", text(error_type)), ("error.message", text(message))]));
            span.status = Status { code: "error", message: message.to_owned() };
        });
    }

    /// Notes an expected event, which `record` adds to the span.
    pub(crate) fn event(self, name: &str, attributes: Attributes, record: impl FnOnce()) {
        let before = now();
        record();
        let time = [before, now()];
        self.with(|span| {
            span.events.push(Event { name: name.to_owned(), time, attributes, dropped_attributes: 0 });
        });
    }

    /// Called last inside the span.
    pub(crate) fn ending(self) {
        let before = now();
        self.with(|span| span.end[0] = before);
    }

    /// Called just after the end of the span.
    pub(crate) fn over(self) {
        let after = now();
        self.with(|span| span.end[1] = after);
    }
}

/// Runs a function that records one span.
pub(crate) fn watched<R>(call: impl FnOnce(Watch) -> R) -> R {
    let watch = Watch::new();
    let result = call(watch);
    watch.over();
    result
}
