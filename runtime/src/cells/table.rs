//! The memory of one metric: for each stripe that is used, a cell for each set of label values.
//!
//! Tables, stripes and rows are made at their first use and never freed, so that a thread may hold on to what it found
//! without telling anybody. What they take is bounded by the metric's shape, and stated by the catalogue.

use std::collections::BTreeMap;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::AtomicPtr;

use super::exemplar::Exemplar;
use super::stripe::{SHARED, STRIPES, Stripe};
use crate::sync::{AcqRel, Acquire, AtomicU64};

/// Cells begin at a multiple of this, so that no two stripes meet in a cache line, nor in a pair that is fetched together.
pub(crate) const ALIGN: usize = 128;
const WORDS_PER_LINE: usize = ALIGN / 8;

#[repr(align(128))]
struct Line(#[expect(dead_code, reason = "only its place and size matter")] [AtomicU64; WORDS_PER_LINE]);

/// The stripes of one metric.
pub(crate) struct Table {
    /// Cells of sums, or pointers to the rows of a histogram, each written by one thread; null until used. The first is
    /// never used.
    own: [AtomicPtr<()>; STRIPES],
    /// The same, each written by several threads. A gauge uses the first of these.
    shared: [AtomicPtr<()>; SHARED],
    /// By label set and bucket. Only ever tried, never waited for.
    pub(crate) exemplars: Mutex<BTreeMap<(usize, usize), Exemplar>>,
}

/// What a metric has before it is used.
pub(crate) static EMPTY: Table = Table::new();

impl Table {
    pub(crate) const fn new() -> Self {
        Table {
            own: [const { AtomicPtr::new(ptr::null_mut()) }; STRIPES],
            shared: [const { AtomicPtr::new(ptr::null_mut()) }; SHARED],
            exemplars: Mutex::new(BTreeMap::new()),
        }
    }

    /// The stripe of one thread alone; null if there is none yet.
    #[inline(always)]
    pub(crate) fn own(&self, stripe: usize) -> *mut () {
        self.own[stripe % STRIPES].load(Acquire)
    }

    /// The stripe that gauges use; null if there is none yet.
    #[inline(always)]
    pub(crate) fn gauges(&self) -> *mut () {
        self.shared[0].load(Acquire)
    }

    /// A stripe, which `make` makes if there is none. If two threads make it, one of them wins.
    pub(crate) fn stripe_or(&self, stripe: Stripe, make: impl FnOnce() -> *mut ()) -> *mut () {
        let place = match stripe {
            Stripe::Own(stripe) => &self.own[stripe],
            Stripe::Shared(stripe) => &self.shared[stripe],
        };
        publish(place, make)
    }

    /// The places of all stripes that are used.
    pub(crate) fn used(&self) -> impl Iterator<Item = *mut ()> {
        self.own.iter().chain(&self.shared).map(|stripe| stripe.load(Acquire)).filter(|stripe| !stripe.is_null())
    }
}

/// Stores what `make` makes into `place` if it is empty, and gives what is there then. The loser's is leaked: it is
/// rare, at most once per thread and place, and small.
pub(crate) fn publish<T>(place: &AtomicPtr<T>, make: impl FnOnce() -> *mut T) -> *mut T {
    let there = place.load(Acquire);
    if !there.is_null() {
        return there;
    }
    let made = make();
    match place.compare_exchange(ptr::null_mut(), made, AcqRel, Acquire) {
        Ok(_) => made,
        Err(there) => there,
    }
}

/// `len` cells, all zero.
pub(crate) fn cells(len: usize) -> *mut AtomicU64 {
    let lines = len.div_ceil(WORDS_PER_LINE).max(1);
    #[cfg(not(loom))]
    // SAFETY: an `AtomicU64` of zero bytes is the number 0. Zeroed by the allocator, so that the pages of a large
    // metric are not touched before they are used.
    let lines = unsafe { Box::<[Line]>::new_zeroed_slice(lines).assume_init() };
    #[cfg(loom)]
    let lines: Box<[Line]> = (0..lines).map(|_| Line(std::array::from_fn(|_| AtomicU64::new(0)))).collect();
    Box::leak(lines).as_mut_ptr().cast()
}

/// `len` null pointers.
pub(crate) fn pointers(len: usize) -> *mut AtomicPtr<AtomicU64> {
    let pointers: Box<[_]> = (0..len).map(|_| AtomicPtr::new(ptr::null_mut())).collect();
    Box::leak(pointers).as_mut_ptr()
}

/// How many bytes `cells(len)` takes.
pub(crate) const fn cells_bytes(len: usize) -> usize {
    len.saturating_add(WORDS_PER_LINE - 1) / WORDS_PER_LINE * ALIGN
}
