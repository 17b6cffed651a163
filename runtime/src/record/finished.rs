//! A finished span as owned data, of this or another API: the form for tests and exporters.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::declare::callsite::{Callsite, Kind, OWN_LINES};
use crate::declare::scope::ExternalScope;
use crate::declare::value::OwnedValue;
use crate::record::ids::{SpanId, TraceId};

/// The outcome of a span.
///
/// ```
/// use tracecast::{Kind, Outcome, Span};
///
/// let captured = tracecast::testing::capture(|| {
///     Span::builder("Store/Get", Kind::Internal).start().end_with(Outcome::Cancelled);
/// });
/// let outcome = captured.span("Store/Get").outcome;
/// assert_eq!(outcome.as_str(), "cancelled");
/// assert!(!outcome.is_error());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Outcome {
    /// The span completed without an error.
    #[default]
    Ok,
    /// The span's function returned an error, or an error was recorded on the span.
    Error,
    /// The span's future or stream was dropped before it completed.
    Cancelled,
    /// The span was unwound by a panic.
    Panicked,
}

impl Outcome {
    /// Returns the name: `ok`, `error`, `cancelled` or `panicked`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Error => "error",
            Outcome::Cancelled => "cancelled",
            Outcome::Panicked => "panicked",
        }
    }

    pub(crate) const fn from_bits(bits: u8) -> Self {
        match bits {
            0 => Outcome::Ok,
            1 => Outcome::Error,
            2 => Outcome::Cancelled,
            _ => Outcome::Panicked,
        }
    }

    /// Returns whether the span's OpenTelemetry status is error; otherwise the status is unset.
    pub const fn is_error(self) -> bool {
        matches!(self, Outcome::Error | Outcome::Panicked)
    }
}

/// An attribute: a key with its value.
///
/// ```
/// use tracecast::prelude::*;
///
/// #[tc_span("Store/Get", attrs(tracecast::keys::tensor::artifact = name))]
/// fn get(name: &str) {}
///
/// let captured = tracecast::testing::capture(|| get("llama"));
/// let attribute = &captured.span("Store/Get").attributes[0];
/// assert_eq!((&*attribute.key, &attribute.value), ("tc.artifact.id", &"llama".into()));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Attribute {
    /// The exported name of the key.
    pub key: Cow<'static, str>,
    /// The value.
    pub value: OwnedValue,
}

/// An event of a span.
///
/// ```
/// use tracecast::prelude::*;
/// use tracecast::current;
///
/// #[tc_span("Store/Get")]
/// fn get() {
///     current().event("miss");
/// }
///
/// let captured = tracecast::testing::capture(get);
/// let span = captured.span("Store/Get");
/// assert!(span.events[0].name == "miss" && span.events[0].unix_nanos >= span.start_unix_nanos);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// The event's name.
    pub name: Cow<'static, str>,
    /// The time in nanoseconds since 1970.
    pub unix_nanos: u64,
    /// The event's attributes.
    pub attributes: Vec<Attribute>,
    /// Attributes dropped because of a limit; those of our own events are counted on the span.
    pub(crate) dropped_attributes: u32,
}

/// A link to another span.
///
/// ```
/// use tracecast::{Context, Kind, Span, SpanId, TraceId};
///
/// let job = Context::remote(TraceId(0xa), SpanId(0xb), true);
/// let captured = tracecast::testing::capture(|| {
///     Span::builder("Worker/Sweep", Kind::Internal).with_links(&job).start().end();
/// });
/// assert_eq!(captured.span("Worker/Sweep").links[0].trace_id, TraceId(0xa));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Link {
    /// The trace id of the linked span.
    pub trace_id: TraceId,
    /// The span id of the linked span.
    pub span_id: SpanId,
    /// True if the linked span was sampled.
    pub sampled: bool,
    /// True if the linked span is in another process; `None` for our own links, which do not record this.
    pub(crate) is_remote: Option<bool>,
    /// The `tracestate` of the linked span's trace, if an external span set it.
    pub(crate) trace_state: String,
    /// The link's attributes, if an external span set any.
    pub(crate) attributes: Vec<Attribute>,
    /// Attributes dropped because of a limit.
    pub(crate) dropped_attributes: u32,
}

/// The status that was set on an external span. The status of our own spans follows from the outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(any(has_otel, has_tracing)), expect(dead_code, reason = "spans of third parties have one"))]
pub(crate) enum Status {
    /// No status was set; the outcome determines it.
    #[default]
    Unset,
    /// The span succeeded, even if errors were recorded.
    Ok,
    /// The span failed. The text describes the error and may be empty.
    Error(Cow<'static, str>),
}

/// A span that has ended.
///
/// ```
/// use tracecast::prelude::*;
///
/// #[tc_span("Store/Get", attrs(tracecast::keys::tensor::artifact = name))]
/// fn get(name: &str) {}
///
/// let captured = tracecast::testing::capture(|| get("llama"));
/// let span = captured.span("Store/Get");
/// assert_eq!(span.attribute("tc.artifact.id"), Some(&"llama".into()));
/// assert!(span.parent_span_id.is_none() && span.end_time() >= span.start_time());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FinishedSpan {
    /// The instrumentation scope of an external span; `None` for our own.
    #[cfg_attr(not(has_otlp), expect(dead_code, reason = "only exporters read it"))]
    pub(crate) scope: Option<Arc<ExternalScope>>,
    /// Name and version of the crate that declares a span of our own, as stored in its callsite.
    #[cfg_attr(not(has_otlp), expect(dead_code, reason = "only exporters read it"))]
    pub(crate) crate_lines: &'static str,
    /// `Component/Operation`. External spans may have any name.
    pub name: Cow<'static, str>,
    /// The span's kind.
    pub kind: Kind,
    /// The trace id.
    pub trace_id: TraceId,
    /// The span id.
    pub span_id: SpanId,
    /// The parent's span id; `None` for a root.
    pub parent_span_id: Option<SpanId>,
    /// True if the parent is in another process.
    pub parent_is_remote: bool,
    /// The `tracestate` that was received with the trace from another process, or an empty text.
    pub trace_state: String,
    /// The start time in nanoseconds since 1970.
    pub start_unix_nanos: u64,
    /// The duration.
    pub duration: Duration,
    /// The outcome.
    pub outcome: Outcome,
    /// The status that was set on an external span.
    pub(crate) status: Status,
    /// The attributes; each key occurs once.
    pub attributes: Vec<Attribute>,
    /// The events, in the order in which they were recorded.
    pub events: Vec<Event>,
    /// The links.
    pub links: Vec<Link>,
    /// Attributes dropped because of a limit.
    pub dropped_attributes: u32,
    /// Events dropped because of a limit; for our own spans counted up to 255.
    pub dropped_events: u32,
    /// Links dropped because of a limit; for our own spans counted up to 255.
    pub dropped_links: u32,
}

impl FinishedSpan {
    /// Creates a span with a name and a kind; everything else is empty.
    pub(crate) fn new(name: Cow<'static, str>, kind: Kind) -> Self {
        FinishedSpan {
            scope: None,
            crate_lines: OWN_LINES,
            name,
            kind,
            trace_id: TraceId::default(),
            span_id: SpanId::default(),
            parent_span_id: None,
            parent_is_remote: false,
            trace_state: String::new(),
            start_unix_nanos: 0,
            duration: Duration::ZERO,
            outcome: Outcome::Ok,
            status: Status::Unset,
            attributes: Vec::new(),
            events: Vec::new(),
            links: Vec::new(),
            dropped_attributes: 0,
            dropped_events: 0,
            dropped_links: 0,
        }
    }

    /// Creates a span with the data of this callsite.
    pub(crate) fn of(callsite: &Callsite) -> Self {
        FinishedSpan {
            crate_lines: callsite.crate_lines(),
            ..FinishedSpan::new(Cow::Borrowed(callsite.name()), callsite.kind())
        }
    }

    /// Returns the start time.
    pub fn start_time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_nanos(self.start_unix_nanos)
    }

    /// Returns the end time.
    pub fn end_time(&self) -> SystemTime {
        self.start_time() + self.duration
    }

    /// Returns the value of the attribute with this exported name; `None` if the span has no such attribute.
    ///
    /// ```
    /// use tracecast::prelude::*;
    /// use tracecast::{OwnedValue, keys};
    ///
    /// #[tc_span("Store/Put", attrs(keys::size_bytes = bytes))]
    /// fn put(bytes: u64) {}
    ///
    /// let captured = tracecast::testing::capture(|| put(7));
    /// assert_eq!(captured.span("Store/Put").attribute("tc.size.bytes"), Some(&OwnedValue::U64(7)));
    /// ```
    pub fn attribute(&self, name: &str) -> Option<&OwnedValue> {
        self.attributes.iter().find(|attribute| attribute.key == name).map(|attribute| &attribute.value)
    }
}

#[cfg(has_otlp)]
impl FinishedSpan {
    /// Returns the end time in nanoseconds since 1970.
    pub(crate) fn end_unix_nanos(&self) -> u64 {
        self.start_unix_nanos.saturating_add(self.duration.as_nanos() as u64)
    }

    /// Replaces each text for which `instead(name, text)` returns another text: attributes, the span's name (`name`) and the
    /// status description (`error.message`).
    pub(crate) fn change_texts(&mut self, instead: &dyn Fn(&str, &str) -> Option<String>) {
        if let Some(name) = instead("name", &self.name) {
            self.name = Cow::Owned(name);
        }
        if let Status::Error(text) = &mut self.status
            && let Some(other) = instead("error.message", text)
        {
            *text = Cow::Owned(other);
        }
        let of_events = self.events.iter_mut().map(|event| &mut event.attributes);
        let of_links = self.links.iter_mut().map(|link| &mut link.attributes);
        for Attribute { key, value } in [&mut self.attributes].into_iter().chain(of_events).chain(of_links).flatten() {
            value.change_texts(|text| instead(key, text));
        }
    }

    /// Returns the approximate size of the span in bytes, in memory and as JSON.
    pub(crate) fn bytes(&self) -> usize {
        let event = |event: &Event| size_of::<Event>() + event.name.len() + attribute_bytes(&event.attributes);
        let link = |link: &Link| size_of::<Link>() + link.trace_state.len() + attribute_bytes(&link.attributes);
        size_of::<FinishedSpan>()
            + self.name.len()
            + self.trace_state.len()
            + attribute_bytes(&self.attributes)
            + self.events.iter().map(event).sum::<usize>()
            + self.links.iter().map(link).sum::<usize>()
    }
}

#[cfg(has_otlp)]
fn attribute_bytes(attributes: &[Attribute]) -> usize {
    attributes.iter().map(|given| size_of::<Attribute>() + given.key.len() + given.value.heap_bytes()).sum()
}
