//! Callsites: one static per annotated function or scope, with everything known at compile time, and the state that switches it.

use std::panic::Location;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::declare::key::KeyMeta;
use crate::declare::meter::Meter;
use crate::declare::scope::CrateScope;
use crate::declare::sections::{LINKED, owner_of};

/// The kind of a span, as OpenTelemetry defines it.
///
/// ```
/// use tracecast::{Kind, Span};
///
/// let captured = tracecast::testing::capture(|| Span::builder("Store/Get", Kind::Client).start().end());
/// assert_eq!(captured.span("Store/Get").kind, Kind::Client);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Kind {
    /// Work inside the process.
    #[default]
    Internal,
    /// Handles a request of a remote client.
    Server,
    /// Makes a request to a remote service.
    Client,
    /// Sends a message that is handled later.
    Producer,
    /// Handles a message that was sent earlier.
    Consumer,
}

/// Records spans in the recorder.
pub(crate) const RECORD: u8 = 1;
/// Records spans in the sink of the current context, if it has one.
pub(crate) const CAPTURE: u8 = 2;
/// Records no spans: a filter rejects them, or nothing is recorded and the function names the parent. The callsite's futures
/// still carry their parent to the thread that polls them.
pub(crate) const FILTERED: u8 = 8;
/// The callsite is not registered yet: on targets without link sections, and for names made at run time.
pub(crate) const NEW: u8 = 4;

/// Records measurements of the function in the cells of its metrics.
pub(crate) const METER: u8 = 16;
/// Records measurements of the function in the sink of the current context, if it has one.
pub(crate) const METER_CAPTURE: u8 = 32;

/// The callsite's spans record how long they were polled.
pub(crate) const TIMED: u8 = 64;
/// Polls of the callsite's spans are checked for stalls.
pub(crate) const WATCHED: u8 = 128;

/// A place in the source that records spans.
#[derive(Debug)]
#[repr(C)]
pub struct Callsite {
    // The first field, as `sections` requires. The owner is a number, because in most programs each reference in a static needs a
    // relocation entry of 24 bytes.
    owner: u64,
    /// The length of the name in `text`, or [`ALL`].
    name_bytes: u16,
    state: AtomicU8,
    kind: Kind,
    /// The seconds between two heartbeats, shifted left by three bits, above `NEEDS_PARENT`, `NAMES_PARENT` and `BUSY`.
    heartbeat_and_options: u32,
    line: u32,
    file: &'static str,
    /// The span's name, the crate's name and the crate's version, each on its own line; or only a span's name that was made at
    /// run time. All are in one text because references to constants that all callsites of a crate share compile much more
    /// slowly.
    text: &'static str,
    keys: Option<&'static &'static [&'static KeyMeta]>,
    meter: Option<&'static Meter>,
}

/// Spans are recorded only below a parent.
const NEEDS_PARENT: u32 = 1;
/// The function names the parent of its spans.
const NAMES_PARENT: u32 = 2;

/// The function has the option `busy`: its spans record how long they were polled.
const BUSY: u32 = 4;

/// The number that identifies the callsites of this copy of the crate and contains their size.
pub(crate) const SPANS_OWNER: u64 = owner_of(size_of::<Callsite>());

/// The value of `name_bytes` if the text contains only the name.
const ALL: u16 = u16::MAX;

/// The name and the version of this crate, in the form of [`Callsite::crate_lines`].
pub(crate) const OWN_LINES: &str = concat!("\n", env!("CARGO_PKG_NAME"), "\n", env!("CARGO_PKG_VERSION"));

impl Callsite {
    /// Creates a callsite of internal spans at the place of the call. A callsite without a name records no spans.
    #[track_caller]
    pub(crate) const fn new(text: &'static str, name_bytes: u16) -> Self {
        let place = Location::caller();
        Callsite {
            owner: SPANS_OWNER,
            name_bytes,
            state: AtomicU8::new(if LINKED { 0 } else { NEW }),
            kind: Kind::Internal,
            heartbeat_and_options: 0,
            line: place.line(),
            file: place.file(),
            text,
            keys: None,
            meter: None,
        }
    }

    /// Creates a callsite for a name made at run time. Such a callsite is in no link section.
    pub(crate) const fn unlinked(name: &'static str, kind: Kind) -> Self {
        let mut callsite = Callsite::new(name, ALL).of_kind(kind);
        callsite.state = AtomicU8::new(NEW);
        callsite
    }

    /// Sets the kind of the spans.
    #[doc(hidden)]
    pub const fn of_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the metrics of the function.
    #[doc(hidden)]
    pub const fn meter(mut self, meter: &'static Meter) -> Self {
        self.meter = Some(meter);
        self
    }

    /// Sets the keys of the attributes, for the catalogue.
    #[doc(hidden)]
    pub const fn keys(mut self, keys: &'static &'static [&'static KeyMeta]) -> Self {
        self.keys = Some(keys);
        self
    }

    /// Records a span only if it has a parent.
    #[doc(hidden)]
    pub const fn needs_parent(mut self) -> Self {
        self.heartbeat_and_options |= NEEDS_PARENT;
        self
    }

    /// Makes the parent that the function names current even while no spans are recorded, so that a request keeps the
    /// context that it arrived with. The state of such a callsite is never 0.
    #[doc(hidden)]
    pub const fn names_parent(mut self) -> Self {
        self.heartbeat_and_options |= NAMES_PARENT;
        self.state = AtomicU8::new(if LINKED { FILTERED } else { NEW });
        self
    }

    /// Records on each span how long it was polled.
    #[doc(hidden)]
    pub const fn busy(mut self) -> Self {
        self.heartbeat_and_options |= BUSY;
        self
    }

    /// Exports a marker of each open span every `seconds`.
    #[doc(hidden)]
    pub const fn heartbeat(mut self, seconds: u32) -> Self {
        self.heartbeat_and_options |= seconds << 3;
        self
    }

    /// Returns false if a call only has to run the body: it records no span, measures nothing and carries no parent.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        if self.state.load(Relaxed) == 0 {
            false
        } else {
            crate::base::cold_path();
            true
        }
    }

    #[inline]
    pub(crate) fn state(&self) -> u8 {
        self.state.load(Relaxed)
    }

    /// Sets the state. While a callsite whose function names a parent records no spans, it is `FILTERED`.
    pub(crate) fn set_state(&self, state: u8) {
        let carries = self.heartbeat_and_options & NAMES_PARENT != 0 && state & (RECORD | CAPTURE) == 0;
        self.state.store(if carries { state | FILTERED } else { state }, Relaxed);
    }

    /// The span's name, `Component/Operation`.
    pub fn name(&self) -> &'static str {
        if self.name_bytes == ALL { self.text } else { &self.text[..usize::from(self.name_bytes)] }
    }

    /// The span's kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The file that contains the callsite.
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// The line in the file.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The name of the crate that contains the callsite.
    pub fn crate_name(&self) -> &'static str {
        self.scope().name
    }

    /// The version of the crate that contains the callsite.
    pub fn crate_version(&self) -> &'static str {
        self.scope().version
    }

    /// The crate that contains the callsite.
    pub(crate) fn scope(&self) -> CrateScope {
        scope_of(self.crate_lines())
    }

    /// Returns the crate's name and version, each after a line break; equal for all callsites of a crate. If the span's name
    /// was made at run time, returns name and version of this crate.
    #[inline]
    pub(crate) fn crate_lines(&self) -> &'static str {
        self.text.get(usize::from(self.name_bytes)..).unwrap_or(OWN_LINES)
    }

    /// Returns whether the callsite records spans. Without a name it only measures.
    pub(crate) fn makes_spans(&self) -> bool {
        self.name_bytes != 0
    }

    pub(crate) fn metrics(&self) -> Option<&'static Meter> {
        self.meter
    }

    pub(crate) fn declared_keys(&self) -> &'static [&'static KeyMeta] {
        self.keys.copied().unwrap_or_default()
    }

    #[inline]
    pub(crate) fn requires_parent(&self) -> bool {
        self.heartbeat_and_options & NEEDS_PARENT != 0
    }

    pub(crate) fn asks_for_busy_times(&self) -> bool {
        self.heartbeat_and_options & BUSY != 0
    }

    #[inline]
    pub(crate) fn heartbeat_seconds(&self) -> u32 {
        self.heartbeat_and_options >> 3
    }
}

/// Returns the crate that these lines name (see [`Callsite::crate_lines`]).
pub(crate) fn scope_of(crate_lines: &'static str) -> CrateScope {
    let lines = crate_lines.strip_prefix('\n').and_then(|lines| lines.split_once('\n'));
    lines.map_or(CrateScope::OWN, |(name, version)| CrateScope { name, version })
}
