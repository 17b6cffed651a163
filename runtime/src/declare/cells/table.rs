//! The memory of one metric: for each stripe that is used, a cell for each set of label values.
//!
//! Tables, stripes and rows are made at their first use and never freed, so that a thread may hold on to what it found
//! without telling anybody. What they take is bounded by the metric's shape, and stated by the catalogue.

#[cfg(not(loom))]
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::collections::BTreeMap;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::AtomicPtr;

use super::exemplar::Exemplar;
use super::stripe::{SHARED, STRIPES, Stripe};
use crate::base::sync::{AcqRel, Acquire, AtomicU64};

/// Cells begin at a multiple of this, so that no two stripes meet in a cache line, nor in a pair that is fetched together.
pub(crate) const ALIGN: usize = 128;
const WORDS_PER_LINE: usize = ALIGN / 8;

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

    /// A stripe of cells, which is made if there is none. If two threads make it, one of them wins.
    pub(crate) fn stripe_of_cells(&self, stripe: Stripe, len: usize) -> *mut () {
        // SAFETY: what is taken back was made just before.
        publish(self.place(stripe), || cells(len).cast(), |made| unsafe { free_cells(made.cast(), len) })
    }

    /// The same for the rows of a histogram.
    pub(crate) fn stripe_of_rows(&self, stripe: Stripe, len: usize) -> *mut () {
        // SAFETY: what is taken back was made just before.
        publish(self.place(stripe), || pointers(len).cast(), |made| unsafe { free_pointers(made.cast(), len) })
    }

    fn place(&self, stripe: Stripe) -> &AtomicPtr<()> {
        match stripe {
            Stripe::Own(stripe) => &self.own[stripe],
            Stripe::Shared(stripe) => &self.shared[stripe],
        }
    }

    /// The places of all stripes that are used.
    pub(crate) fn used(&self) -> impl Iterator<Item = *mut ()> {
        self.own.iter().chain(&self.shared).map(|stripe| stripe.load(Acquire)).filter(|stripe| !stripe.is_null())
    }
}

/// Stores what `make` makes into `place` if it is empty, and gives what is there then. If another thread was faster,
/// `free` takes it back.
pub(crate) fn publish<T>(place: &AtomicPtr<T>, make: impl FnOnce() -> *mut T, free: impl FnOnce(*mut T)) -> *mut T {
    let there = place.load(Acquire);
    if !there.is_null() {
        return there;
    }
    let made = make();
    match place.compare_exchange(ptr::null_mut(), made, AcqRel, Acquire) {
        Ok(_) => made,
        Err(there) => {
            free(made);
            there
        }
    }
}

/// `len` cells, all zero, at a multiple of `ALIGN`.
#[cfg(not(loom))]
pub(crate) fn cells(len: usize) -> *mut AtomicU64 {
    let layout = layout(len);
    // SAFETY: the layout is not empty.
    let base = unsafe { alloc_zeroed(layout) };
    if base.is_null() {
        handle_alloc_error(layout);
    }
    if layout.align() == ALIGN {
        // An `AtomicU64` of zero bytes is the number 0.
        return base.cast();
    }
    let offset = ALIGN - base.addr() % ALIGN;
    // SAFETY: the offset is at least 16, because `base` is a multiple of that, and at most `ALIGN`, which is what the
    // layout has in front of the cells. So there is room for where it began, just before the first cell.
    unsafe {
        let cells = base.add(offset);
        cells.cast::<*mut u8>().sub(1).write(base);
        cells.cast()
    }
}

/// Gives cells back that nobody else knows.
///
/// # Safety
/// `cells` came from `cells(len)`, and is used by nobody.
#[cfg(not(loom))]
pub(crate) unsafe fn free_cells(cells: *mut AtomicU64, len: usize) {
    let layout = layout(len);
    // SAFETY: it came from this layout; where that has no alignment of its own, `cells` wrote down where it began.
    unsafe {
        let base = if layout.align() == ALIGN { cells.cast() } else { cells.cast::<*mut u8>().sub(1).read() };
        dealloc(base, layout);
    }
}

/// Many cells are asked for with the alignment that every allocator gives anyway, and aligned by hand: then they come
/// zeroed from the system, and their pages are not touched before they are used. For few that is not worth its space.
#[cfg(not(loom))]
fn layout(len: usize) -> Layout {
    let bytes = cells_bytes(len);
    let layout = match bytes < MANY {
        true => Layout::from_size_align(bytes, ALIGN),
        false => Layout::from_size_align(bytes.saturating_add(ALIGN), 16),
    };
    layout.unwrap_or_else(|_| panic!("a metric of {len} cells does not fit into memory"))
}

#[cfg(not(loom))]
const MANY: usize = 32 * 1024;

#[cfg(loom)]
pub(crate) fn cells(len: usize) -> *mut AtomicU64 {
    let cells: Box<[AtomicU64]> = (0..len).map(|_| AtomicU64::new(0)).collect();
    Box::leak(cells).as_mut_ptr()
}

#[cfg(loom)]
pub(crate) unsafe fn free_cells(_cells: *mut AtomicU64, _len: usize) {}

/// `len` null pointers.
fn pointers(len: usize) -> *mut AtomicPtr<AtomicU64> {
    let pointers: Box<[_]> = (0..len).map(|_| AtomicPtr::new(ptr::null_mut())).collect();
    Box::leak(pointers).as_mut_ptr()
}

/// Gives pointers back that nobody else knows.
///
/// # Safety
/// `place` came from `pointers(len)`, and is used by nobody.
unsafe fn free_pointers(place: *mut AtomicPtr<AtomicU64>, len: usize) {
    // SAFETY: it was a box of this many before it was leaked.
    drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(place, len)) });
}

/// How many bytes `cells(len)` takes; `ALIGN` more if they are many.
pub(crate) const fn cells_bytes(len: usize) -> usize {
    len.saturating_add(WORDS_PER_LINE - 1) / WORDS_PER_LINE * ALIGN
}
