//! A finished span as plain data: what tests look at and what exporters are given.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use crate::declare::callsite::{Callsite, Kind};
use crate::declare::key::KeyMeta;
use crate::declare::value::OwnedValue;
use crate::record::ids::{SpanId, TraceId};

/// How a span ended.
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
pub enum Outcome {
    /// It came to its end.
    #[default]
    Ok,
    /// It returned an error, or was told of one.
    Error,
    /// Its future or stream was dropped before its end.
    Cancelled,
    /// It was unwound by a panic.
    Panicked,
}

impl Outcome {
    /// The name: `ok`, `error`, `cancelled` or `panicked`.
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

    /// Whether the span's OpenTelemetry status is error. Otherwise it is unset.
    pub const fn is_error(self) -> bool {
        matches!(self, Outcome::Error | Outcome::Panicked)
    }
}

/// A key with its value.
///
/// ```
/// use tracecast::prelude::*;
///
/// #[tc_span("Store/Get", attrs(tracecast::keys::artifact = name))]
/// fn get(name: &str) {}
///
/// let captured = tracecast::testing::capture(|| get("llama"));
/// let attribute = &captured.span("Store/Get").attributes[0];
/// assert_eq!((attribute.key.name, &attribute.value), ("tc.artifact.id", &"llama".into()));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// What the key is.
    pub key: &'static KeyMeta,
    /// Its value.
    pub value: OwnedValue,
}

/// Something that happened during a span.
///
/// ```
/// use tracecast::prelude::*;
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
pub struct Event {
    /// What happened.
    pub name: &'static str,
    /// When, in nanoseconds since 1970.
    pub unix_nanos: u64,
    /// More about it.
    pub attributes: Vec<Attribute>,
}

/// Another span that this one has to do with.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its trace.
    pub trace_id: TraceId,
    /// Its id.
    pub span_id: SpanId,
    /// Whether it was sampled.
    pub sampled: bool,
}

/// A span that has ended.
///
/// ```
/// use tracecast::prelude::*;
///
/// #[tc_span("Store/Get", attrs(tracecast::keys::artifact = name))]
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
    /// `Component/Operation`.
    pub name: Cow<'static, str>,
    /// Its kind.
    pub kind: Kind,
    /// Its trace.
    pub trace_id: TraceId,
    /// Its id.
    pub span_id: SpanId,
    /// Its parent's id; `None` for a root.
    pub parent_span_id: Option<SpanId>,
    /// Whether the parent is in another process.
    pub parent_is_remote: bool,
    /// `tracestate` as its trace came with it from another process, or nothing.
    pub trace_state: String,
    /// When it started, in nanoseconds since 1970.
    pub start_unix_nanos: u64,
    /// How long it took.
    pub duration: Duration,
    /// How it ended.
    pub outcome: Outcome,
    /// Its attributes; a key stands once.
    pub attributes: Vec<Attribute>,
    /// Its events, in the order in which they were recorded.
    pub events: Vec<Event>,
    /// Its links.
    pub links: Vec<Link>,
    /// Attributes left out because of a limit.
    pub dropped_attributes: u32,
    /// Events left out because of a limit, counted up to 255.
    pub dropped_events: u32,
    /// Links left out because of a limit, counted up to 255.
    pub dropped_links: u32,
    /// Where it comes from.
    pub callsite: &'static Callsite,
}

impl FinishedSpan {
    /// When it started.
    pub fn start_time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_nanos(self.start_unix_nanos)
    }

    /// When it ended.
    pub fn end_time(&self) -> SystemTime {
        self.start_time() + self.duration
    }

    /// The value of the attribute with this name on the wire.
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
        self.attributes.iter().find(|attribute| attribute.key.name == name).map(|attribute| &attribute.value)
    }
}
