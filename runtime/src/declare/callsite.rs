//! Callsites: one static per annotated function or scope, with all that the compiler knows and one flag.

use std::panic::Location;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::declare::key::KeyMeta;
use crate::declare::meter::Meter;
use crate::declare::sections::{LINKED, Source};

/// What a span's relation to others is, as OpenTelemetry names it.
///
/// ```
/// use tracecast::{Kind, Span};
///
/// let captured = tracecast::testing::capture(|| Span::builder("Store/Get", Kind::Client).start().end());
/// assert_eq!(captured.span("Store/Get").kind, Kind::Client);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Work inside the process.
    #[default]
    Internal,
    /// Handles a request of a remote client.
    Server,
    /// Makes a request to a remote service.
    Client,
    /// Hands a message over for later.
    Producer,
    /// Handles a message that was handed over earlier.
    Consumer,
}

/// Spans go to the recorder.
pub(crate) const RECORD: u8 = 1;
/// Spans go to the sink of the current context, if it has one.
pub(crate) const CAPTURE: u8 = 2;
/// Makes no spans, though others do: a future of it still takes its parent along to where it runs.
pub(crate) const FILTERED: u8 = 8;
/// Not yet known to the registry: where there are no link sections, and names made at run time.
pub(crate) const NEW: u8 = 4;

/// Measurements of the function go to the cells of its metrics.
pub(crate) const METER: u8 = 16;
/// Measurements of the function go to the sink of the current context, if it has one.
pub(crate) const METER_CAPTURE: u8 = 32;

/// One place in the source that makes spans.
///
/// ```
/// use tracecast::prelude::*;
///
/// #[tc_span("Store/Get")]
/// fn get() {}
///
/// let captured = tracecast::testing::capture(get);
/// let callsite = captured.span("Store/Get").callsite.expect("one of our spans");
/// assert_eq!(callsite.name(), "Store/Get");
/// println!("{}:{} of {} {}", callsite.file(), callsite.line(), callsite.crate_name(), callsite.crate_version());
/// ```
#[derive(Debug)]
#[repr(C)]
pub struct Callsite {
    // First, as `sections` asks for it.
    source: &'static Source,
    state: AtomicU8,
    kind: Kind,
    needs_parent: bool,
    line: u32,
    name: &'static str,
    keys: &'static [&'static KeyMeta],
    meter: Option<&'static Meter>,
    announce_seconds: u32,
}

/// The source of callsites for names made at run time.
static AT_RUN_TIME: Source = Source::new(None, env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));

impl Callsite {
    /// A callsite of internal spans, at the place of the call.
    #[doc(hidden)]
    #[track_caller]
    pub const fn new(name: &'static str, source: &'static Source) -> Self {
        Callsite {
            source,
            state: AtomicU8::new(if LINKED { 0 } else { NEW }),
            kind: Kind::Internal,
            needs_parent: false,
            line: Location::caller().line(),
            name,
            keys: &[],
            meter: None,
            announce_seconds: 0,
        }
    }

    /// A callsite for a name that is known at run time only. It is in no link section.
    pub(crate) const fn unlinked(name: &'static str, kind: Kind) -> Self {
        let mut callsite = Callsite::new(name, &AT_RUN_TIME).of_kind(kind);
        callsite.state = AtomicU8::new(NEW);
        callsite
    }

    /// A function that has metrics and no span.
    #[doc(hidden)]
    #[track_caller]
    pub const fn metered(meter: &'static Meter, source: &'static Source) -> Self {
        Callsite::new("", source).meter(meter)
    }

    /// Another kind of spans.
    #[doc(hidden)]
    pub const fn of_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// The metrics of its function.
    #[doc(hidden)]
    pub const fn meter(mut self, meter: &'static Meter) -> Self {
        self.meter = Some(meter);
        self
    }

    /// The keys its attributes use, for the catalogue.
    #[doc(hidden)]
    pub const fn keys(mut self, keys: &'static [&'static KeyMeta]) -> Self {
        self.keys = keys;
        self
    }

    /// Makes no root.
    #[doc(hidden)]
    pub const fn needs_parent(mut self) -> Self {
        self.needs_parent = true;
        self
    }

    /// While a span is open, a marker says so every `seconds`.
    #[doc(hidden)]
    pub const fn announce(mut self, seconds: u32) -> Self {
        self.announce_seconds = seconds;
        self
    }

    /// Whether a call has to do anything at all.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        if self.state.load(Relaxed) == 0 {
            false
        } else {
            std::hint::cold_path();
            true
        }
    }

    #[inline]
    pub(crate) fn state(&self) -> u8 {
        self.state.load(Relaxed)
    }

    pub(crate) fn set_state(&self, state: u8) {
        self.state.store(state, Relaxed);
    }

    /// The span's name, `Component/Operation`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The span's kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The file that contains it.
    pub fn file(&self) -> &'static str {
        self.source.file
    }

    /// Its line in the file.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The name of the crate that contains it.
    pub fn crate_name(&self) -> &'static str {
        self.source.crate_name
    }

    /// The version of the crate that contains it.
    pub fn crate_version(&self) -> &'static str {
        self.source.crate_version
    }

    /// Whether it makes spans, or only measures.
    pub(crate) fn makes_spans(&self) -> bool {
        !self.name.is_empty()
    }

    pub(crate) fn metrics(&self) -> Option<&'static Meter> {
        self.meter
    }

    pub(crate) fn declared_keys(&self) -> &'static [&'static KeyMeta] {
        self.keys
    }

    #[inline]
    pub(crate) fn requires_parent(&self) -> bool {
        self.needs_parent
    }

    #[inline]
    pub(crate) fn announce_seconds(&self) -> u32 {
        self.announce_seconds
    }
}
