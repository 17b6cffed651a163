//! The memory of one metric: a cell for each label set in each used stripe.
//!
//! Tables, stripes and rows are created at their first use and never freed, so threads may keep pointers to them. The shape of
//! the metric bounds their size, which the catalogue shows.

#[cfg(not(loom))]
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::collections::BTreeMap;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::AtomicPtr;

use super::exemplar::Exemplar;
use super::stripe;
use super::stripe::{Counts, Stripe};
use crate::base::sync::{AcqRel, Acquire, AtomicU64};

/// The alignment of cells: no two stripes share a cache line, or a pair of lines that is fetched together.
pub(crate) const ALIGN: usize = 128;
const WORDS_PER_LINE: usize = ALIGN / 8;

/// The stripes of one metric.
pub(crate) struct Table {
    /// Own stripes, each written by one thread: cells of sums, or pointers to rows of a histogram. They are null until
    /// used, and the first is never used. There are at least `Counts::get().own` of them.
    own: &'static [AtomicPtr<()>],
    /// Shared stripes, written by several threads. A gauge uses the first one.
    shared: [AtomicPtr<()>; Counts::MOST.shared],
    /// Exemplars by label set and bucket. Writers use `try_lock` and never wait.
    pub(crate) exemplars: Mutex<BTreeMap<(usize, usize), Exemplar>>,
}

/// The table of an unused metric.
pub(crate) static EMPTY: Table = Table::of(&NO_STRIPES);
static NO_STRIPES: [AtomicPtr<()>; Counts::MOST.own] = [const { AtomicPtr::new(ptr::null_mut()) }; Counts::MOST.own];

impl Table {
    /// Allocates the parts of a table, so that `leaked` can assemble it where allocating is not allowed.
    pub(crate) fn parts() -> (Box<Self>, Box<[AtomicPtr<()>]>) {
        let own = (0..Counts::get().own).map(|_| AtomicPtr::new(ptr::null_mut()));
        (Box::new(Table::of(&[])), own.collect())
    }

    /// Assembles a table that is never freed.
    pub(crate) fn leaked((mut table, own): (Box<Self>, Box<[AtomicPtr<()>]>)) -> &'static Self {
        table.own = Box::leak(own);
        Box::leak(table)
    }

    const fn of(own: &'static [AtomicPtr<()>]) -> Self {
        let shared = [const { AtomicPtr::new(ptr::null_mut()) }; Counts::MOST.shared];
        Table { own, shared, exemplars: Mutex::new(BTreeMap::new()) }
    }

    /// Returns the own stripe of the calling thread; null if there is none yet.
    #[inline(always)]
    pub(crate) fn own(&self) -> *mut () {
        // SAFETY: the stripe is below `Counts::get().own`, and every table has at least that many.
        unsafe { self.own.get_unchecked(stripe::own()) }.load(Acquire)
    }

    /// Returns the stripe that gauges use; null if there is none yet.
    #[inline(always)]
    pub(crate) fn gauges(&self) -> *mut () {
        self.shared[0].load(Acquire)
    }

    /// Returns a stripe of cells and creates it if there is none. If two threads create it, both get the same one.
    pub(crate) fn stripe_of_cells(&self, stripe: Stripe, len: usize) -> *mut () {
        // SAFETY: the pointer was returned by `cells` and not shared.
        publish(self.place(stripe), || cells(len).cast(), |made| unsafe { free_cells(made.cast(), len) })
    }

    /// Returns a stripe of pointers to the rows of a histogram, like `stripe_of_cells`.
    pub(crate) fn stripe_of_rows(&self, stripe: Stripe, len: usize) -> *mut () {
        // SAFETY: the pointer was returned by `pointers` and not shared.
        publish(self.place(stripe), || pointers(len).cast(), |made| unsafe { free_pointers(made.cast(), len) })
    }

    fn place(&self, stripe: Stripe) -> &AtomicPtr<()> {
        match stripe {
            Stripe::Own(stripe) => &self.own[stripe],
            Stripe::Shared(stripe) => &self.shared[stripe],
        }
    }

    /// Returns the pointers to all used stripes.
    pub(crate) fn used(&self) -> impl Iterator<Item = *mut ()> {
        self.own.iter().chain(&self.shared).map(|stripe| stripe.load(Acquire)).filter(|stripe| !stripe.is_null())
    }
}

/// Returns the pointer in `place`. If `place` is empty, stores the result of `make` there first. If another thread stores a
/// pointer meanwhile, returns that pointer and calls `free` with the unused result.
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

/// Allocates `len` cells, all zero, at a multiple of `ALIGN`.
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
    // SAFETY: `base` is a multiple of 16, so the offset is from 16 to `ALIGN`, and the layout has `ALIGN` bytes in front of the
    // cells. So there is room for the pointer to `base`, just before the first cell.
    unsafe {
        let cells = base.add(offset);
        cells.cast::<*mut u8>().sub(1).write(base);
        cells.cast()
    }
}

/// Frees cells that were never shared.
///
/// # Safety
/// `cells` came from `cells(len)`, and is no longer used.
#[cfg(not(loom))]
pub(crate) unsafe fn free_cells(cells: *mut AtomicU64, len: usize) {
    let layout = layout(len);
    // SAFETY: the memory was allocated with this layout; if that is not aligned, `cells` has stored its start.
    unsafe {
        let base = if layout.align() == ALIGN { cells.cast() } else { cells.cast::<*mut u8>().sub(1).read() };
        dealloc(base, layout);
    }
}

/// Returns the layout of the allocation for `len` cells. Many cells are allocated with the default alignment and aligned by hand:
/// the system then provides zeroed pages, which are not touched before their first use. For few cells this would waste space.
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

/// Allocates `len` null pointers.
fn pointers(len: usize) -> *mut AtomicPtr<AtomicU64> {
    let pointers: Box<[_]> = (0..len).map(|_| AtomicPtr::new(ptr::null_mut())).collect();
    Box::leak(pointers).as_mut_ptr()
}

/// Frees pointers that were never shared.
///
/// # Safety
/// `place` came from `pointers(len)`, and is no longer used.
unsafe fn free_pointers(place: *mut AtomicPtr<AtomicU64>, len: usize) {
    // SAFETY: `pointers` leaked a box of this length.
    drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(place, len)) });
}

/// Returns the size of `len` cells in bytes, rounded up to a multiple of `ALIGN`. For many cells, `cells(len)` allocates `ALIGN`
/// bytes more.
pub(crate) const fn cells_bytes(len: usize) -> usize {
    len.saturating_add(WORDS_PER_LINE - 1) / WORDS_PER_LINE * ALIGN
}
