//! Heartbeats: markers for spans that stay open for long, so that they are visible before they end (`heartbeat = "30s"`).
//!
//! Spans with a heartbeat are in a fixed list of atomic slots: a span takes a free slot when it starts and frees it when it
//! ends; the reader scans the slots at each drain. A slot's version changes when the slot is taken and when it is freed, so that
//! the reader detects values of different spans.

use std::ptr;
use std::sync::atomic::{
    AtomicPtr, AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed, Ordering::Release, fence,
};
use std::time::Duration;

use crate::declare::callsite::Callsite;
use crate::record::block::{ANNOUNCED, Block};
use crate::record::clock::Converter;

const SLOTS: usize = 1024;

struct Slot {
    /// A counter whose last two bits are the state: 0 free, 2 being filled, 3 open. It only grows.
    version: AtomicU64,
    trace_id: [AtomicU64; 2],
    span_id: AtomicU64,
    parent_id: AtomicU64,
    start: AtomicU64,
    /// The number of markers created so far.
    made: AtomicU64,
    callsite: AtomicPtr<Callsite>,
}

static OPEN: [Slot; SLOTS] = [const {
    Slot {
        version: AtomicU64::new(0),
        trace_id: [AtomicU64::new(0), AtomicU64::new(0)],
        span_id: AtomicU64::new(0),
        parent_id: AtomicU64::new(0),
        start: AtomicU64::new(0),
        made: AtomicU64::new(0),
        callsite: AtomicPtr::new(ptr::null_mut()),
    }
}; SLOTS];

/// Takes a slot for a span that starts now. If all slots are taken, the span has no heartbeat; it is still recorded when it ends.
#[cold]
pub(crate) fn open(block: &Block) {
    let first = block.span_id.get() as usize;
    for step in 0..SLOTS {
        let at = first.wrapping_add(step) % SLOTS;
        let slot = &OPEN[at];
        let version = slot.version.load(Relaxed);
        // Taken in two steps: the version changes to open only after the fields are written.
        if version.is_multiple_of(4) && slot.version.compare_exchange(version, version + 2, Acquire, Relaxed).is_ok() {
            // The reader must not see the fields change before the version.
            fence(Release);
            slot.fill(block);
            slot.version.store(version + 3, Release);
            block.heartbeat_slot.set(at as u32);
            block.raise(ANNOUNCED);
            return;
        }
    }
}

/// Frees the slot of a span that ends.
#[cold]
pub(crate) fn close(block: &Block) {
    block.lower(ANNOUNCED);
    let slot = &OPEN[block.heartbeat_slot.get() as usize % SLOTS];
    slot.version.store(slot.version.load(Relaxed) + 1, Release);
}

/// Frees all slots: their spans belong to the parent process. For a forked child, which has one thread.
pub(crate) fn forget_all() {
    for slot in &OPEN {
        slot.version.store(slot.version.load(Relaxed).next_multiple_of(4), Relaxed);
    }
}

impl Slot {
    fn fill(&self, block: &Block) {
        let trace_id = block.trace_id.get();
        self.trace_id[0].store(trace_id[0], Relaxed);
        self.trace_id[1].store(trace_id[1], Relaxed);
        self.span_id.store(block.span_id.get(), Relaxed);
        self.parent_id.store(block.parent_id.get(), Relaxed);
        self.start.store(block.start.get(), Relaxed);
        self.made.store(0, Relaxed);
        self.callsite.store(ptr::from_ref(block.callsite.get()).cast_mut(), Relaxed);
    }

    fn read(&self) -> Option<OpenSpan> {
        let version = self.version.load(Acquire);
        if version % 4 != 3 {
            return None;
        }
        // SAFETY: only `fill` stores here, and only addresses of `&'static Callsite`.
        let callsite = unsafe { self.callsite.load(Relaxed).as_ref()? };
        let [upper, lower] = [&self.trace_id[0], &self.trace_id[1]].map(|half| u128::from(half.load(Relaxed)));
        let (span_id, parent_id) = (self.span_id.load(Relaxed), self.parent_id.load(Relaxed));
        let mut span = OpenSpan::new((upper << 64) | lower, span_id, parent_id, callsite, Duration::ZERO);
        span.start = self.start.load(Relaxed);
        span.version = version;
        fence(Acquire);
        (self.version.load(Relaxed) == version).then_some(span)
    }
}

/// An open span whose heartbeat is due.
pub(crate) struct OpenSpan {
    pub(crate) trace_id: u128,
    pub(crate) span_id: u64,
    pub(crate) parent_id: u64,
    start: u64,
    version: u64,
    pub(crate) callsite: &'static Callsite,
    pub(crate) open_for: Duration,
}

impl OpenSpan {
    pub(crate) fn new(
        trace_id: u128,
        span_id: u64,
        parent_id: u64,
        callsite: &'static Callsite,
        open_for: Duration,
    ) -> Self {
        OpenSpan { trace_id, span_id, parent_id, start: 0, version: 0, callsite, open_for }
    }
}

/// Returns the open spans that have reached a further multiple of their heartbeat interval at `now`, and counts their markers.
/// Must be called by one reader at a time.
pub(crate) fn due(now: u64, converter: &Converter) -> Vec<OpenSpan> {
    let mut due = Vec::new();
    for slot in &OPEN {
        let Some(mut span) = slot.read() else { continue };
        span.open_for = Duration::from_nanos(converter.nanos(span.start, now));
        let intervals = span.open_for.as_secs() / u64::from(span.callsite.heartbeat_seconds().max(1));
        if slot.made.fetch_max(intervals, AcqRel) < intervals && slot.version.load(Relaxed) == span.version {
            due.push(span);
        }
    }
    due
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::declare::callsite::Kind;
    use crate::record::block::Blocks;

    static EVERY_30_S: Callsite = Callsite::unlinked("Drain/Node", Kind::Internal).heartbeat(30);
    const SECOND: u64 = 1_000_000_000;

    fn open_for(seconds: u64) -> Vec<u64> {
        due(100 * SECOND + seconds * SECOND, &Converter::identity())
            .iter()
            .map(|span| span.open_for.as_secs())
            .collect()
    }

    #[test]
    fn a_span_is_due_after_each_interval_until_it_ends() {
        let blocks = Blocks::new(crate::base::memory::Places::fixed(1));
        let block = blocks.acquire().unwrap();
        block.callsite.set(&EVERY_30_S);
        block.span_id.set(7);
        block.start.set(100 * SECOND);
        open(&block);
        assert!(block.has(ANNOUNCED));
        assert_eq!([open_for(29), open_for(30), open_for(31), open_for(59)], [vec![], vec![30], vec![], vec![]]);
        // A late reader creates one marker, not one for each interval it missed.
        assert_eq!([open_for(150), open_for(151)], [vec![150], vec![]]);
        close(&block);
        assert_eq!(open_for(1_000), [0_u64; 0]);
        assert!(!block.has(ANNOUNCED));
    }
}
