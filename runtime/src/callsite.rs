//! Callsites: one static per annotated function or scope, with all that the compiler knows and one flag.

use std::panic::Location;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering::Relaxed};

use crate::key::KeyMeta;
use crate::meter::Meter;
use crate::sections::LINKED;

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
/// let callsite = captured.span("Store/Get").callsite;
/// assert_eq!(callsite.name(), "Store/Get");
/// println!("{}:{}", callsite.file(), callsite.line());
/// ```
#[derive(Debug)]
pub struct Callsite {
    state: AtomicU8,
    kind: Kind,
    needs_parent: bool,
    announce_seconds: u32,
    name: &'static str,
    keys: &'static [&'static KeyMeta],
    location: &'static Location<'static>,
    meter: Option<&'static Meter>,
    /// The next one in the list of those that registered at run time.
    pub(crate) next: AtomicPtr<Callsite>,
}

impl Callsite {
    /// A callsite at the place of the call.
    #[doc(hidden)]
    #[track_caller]
    pub const fn new(name: &'static str, kind: Kind) -> Self {
        Callsite {
            state: AtomicU8::new(if LINKED { 0 } else { NEW }),
            kind,
            needs_parent: false,
            announce_seconds: 0,
            name,
            keys: &[],
            location: Location::caller(),
            meter: None,
            next: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// A callsite for a name that is known at run time only. It is in no link section.
    #[track_caller]
    pub(crate) const fn unlinked(name: &'static str, kind: Kind) -> Self {
        let mut callsite = Callsite::new(name, kind);
        callsite.state = AtomicU8::new(NEW);
        callsite
    }

    /// A function that has metrics and no span.
    #[doc(hidden)]
    #[track_caller]
    pub const fn metered(meter: &'static Meter) -> Self {
        Callsite::new("", Kind::Internal).meter(meter)
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

    /// The file it stands in.
    pub fn file(&self) -> &'static str {
        self.location.file()
    }

    /// The line it stands on.
    pub fn line(&self) -> u32 {
        self.location.line()
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
