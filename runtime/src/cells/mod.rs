//! The cells of metrics: dense arrays, indexed by the ordinals of labels, one stripe per thread.
//!
//! An update takes no lock, hashes nothing, and allocates only where a thread meets a metric (for a histogram: a set of
//! label values) for the first time. Readers add up the stripes, whose cells only grow, so nothing that was counted can
//! be lost between two readings.

mod exemplar;
pub(crate) mod exponential;
pub(crate) mod histogram;
mod stripe;
mod sum;
mod table;
mod used;

use std::ptr;
use std::sync::atomic::{AtomicI8, AtomicPtr, AtomicU64 as Count};

use self::histogram::{Row, Sample, update};
use self::stripe::Stripe;
use self::table::EMPTY;
use crate::metric::{Buckets, MetricKind, MetricMeta, NumberType};
use crate::sync::{Acquire, AtomicU64, Relaxed, Release};

pub(crate) use self::exemplar::{Exemplar, epoch, next_epoch};
pub(crate) use self::histogram::Total;
pub(crate) use self::sum::{Last, Sum};
pub(crate) use self::table::Table;
pub(crate) use self::used::{Used, abandon, lock, restart};

/// Goes to the cells. Alone, it is the one state that is not negative, and not off.
pub(crate) const RECORD: i8 = 1;
/// Goes to the sink of the current context, if it has one.
pub(crate) const CAPTURE: i8 = i8::MIN;
/// Not yet known to the registry: where there are no link sections.
pub(crate) const NEW: i8 = 64;

/// One metric: its declaration, its flag, and where its cells are.
pub struct Metric {
    state: AtomicI8,
    /// How many cells, or rows of a histogram, a stripe has.
    cells: usize,
    table: AtomicPtr<Table>,
    refused: Count,
    meta: MetricMeta,
    /// The next one in the list of those that registered at run time.
    pub(crate) next: AtomicPtr<Metric>,
}

impl Metric {
    /// A metric that is switched off.
    pub const fn new(meta: MetricMeta) -> Self {
        let words = if matches!(meta.kind, MetricKind::UpDownCounter) { 2 } else { 1 };
        Metric {
            state: AtomicI8::new(if crate::sections::LINKED { 0 } else { NEW | i8::MIN }),
            cells: meta.sets().saturating_mul(words),
            table: AtomicPtr::new((&raw const EMPTY).cast_mut()),
            refused: Count::new(0),
            meta,
            next: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Its declaration.
    pub fn meta(&self) -> &MetricMeta {
        &self.meta
    }

    /// Whether anything has to be done with a measurement: 0 if not.
    #[inline(always)]
    pub(crate) fn state(&self) -> i8 {
        if cfg!(feature = "off") { 0 } else { self.state.load(Relaxed) }
    }

    pub(crate) fn set_state(&self, state: i8) {
        self.state.store(state, Relaxed);
    }

    /// How many measurements were refused: no number, infinite, negative where that means nothing, a label out of range.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Relaxed)
    }

    #[cold]
    pub(crate) fn refuse(&self) {
        self.refused.fetch_add(1, Relaxed);
    }

    #[inline(always)]
    pub(crate) fn table(&self) -> &'static Table {
        // SAFETY: only `EMPTY` and tables that are never freed are stored here; Acquire pairs with the Release of that.
        unsafe { &*self.table.load(Acquire) }
    }

    pub(crate) fn set_table(&self, table: &'static Table) {
        self.table.store(ptr::from_ref(table).cast_mut(), Release);
    }

    /// The table, which is made or found if there is none yet.
    pub(crate) fn ready_table(&'static self) -> &'static Table {
        let table = self.table();
        if ptr::eq(table, &EMPTY) { used::table_for(self) } else { table }
    }

    /// Adds to a cell.
    #[inline(always)]
    pub(crate) fn add<N: Sum>(&'static self, cell: usize, amount: N) {
        self.add_in(self.table(), cell, amount);
    }

    /// Adds to a sum that can shrink: what was added and what was taken away lie side by side, and both only grow.
    #[inline(always)]
    pub(crate) fn move_by<N: Sum>(&'static self, set: usize, down: bool, size: N) {
        self.add(up_or_down(set, down), size);
    }

    /// The same, in a table that it had when the first half of this movement was counted.
    pub(crate) fn move_in<N: Sum>(&'static self, table: &'static Table, set: usize, down: bool, size: N) {
        self.add_in(table, up_or_down(set, down), size);
    }

    /// Adds to a cell of a table of this metric's: the one it has now, or one that it had before.
    #[inline(always)]
    pub(crate) fn add_in<N: Sum>(&'static self, table: &'static Table, cell: usize, amount: N) {
        if cell >= self.cells || !amount.is_addable() {
            return self.add_slowly(table, cell, amount);
        }
        let cells = table.own(stripe::own());
        if cells.is_null() {
            return self.add_slowly(table, cell, amount);
        }
        // SAFETY: a stripe of this metric has `self.cells` cells, made by `table::cells`, and is never freed.
        let place = unsafe { &*cells.cast::<AtomicU64>().add(cell) };
        let held = place.load(Relaxed);
        if held == 0 {
            return self.add_slowly(table, cell, amount);
        }
        place.store(amount.more(held), Relaxed);
    }

    #[cold]
    #[inline(never)]
    fn add_slowly<N: Sum>(&'static self, table: &'static Table, cell: usize, amount: N) {
        let amount = amount.plain();
        if cell >= self.cells || !amount.is_addable() {
            return self.refuse();
        }
        let table = if ptr::eq(table, &EMPTY) { self.ready_table() } else { table };
        let mine = stripe::mine();
        let cells = table.stripe_or(mine, || table::cells(self.cells).cast());
        // SAFETY: as in `add_in`.
        let cell = unsafe { &*cells.cast::<AtomicU64>().add(cell) };
        update(cell, matches!(mine, Stripe::Own(_)), |held| amount.added_to(held));
    }

    /// Sets the value of a gauge, or takes it away. It lies in one place for all threads.
    #[inline(always)]
    pub(crate) fn set<N: Last>(&'static self, cell: usize, value: Option<N>) {
        let cells = self.table().gauges();
        if cells.is_null() || cell >= self.cells {
            return self.set_slowly(cell, value);
        }
        // SAFETY: as in `add_in`.
        self.store(unsafe { &*cells.cast::<AtomicU64>().add(cell) }, value);
    }

    #[cold]
    #[inline(never)]
    fn set_slowly<N: Last>(&'static self, cell: usize, value: Option<N>) {
        if cell >= self.cells {
            return self.refuse();
        }
        let cells = self.ready_table().stripe_or(Stripe::Shared(0), || table::cells(self.cells).cast());
        // SAFETY: as in `add_in`.
        self.store(unsafe { &*cells.cast::<AtomicU64>().add(cell) }, value);
    }

    #[inline(always)]
    fn store<N: Last>(&self, cell: &AtomicU64, value: Option<N>) {
        match value {
            Some(value) if value.is_settable() => cell.store(value.bits() ^ N::UNSET, Relaxed),
            Some(_) => self.refuse(),
            None => cell.store(0, Relaxed),
        }
    }

    /// Records a value in a histogram. `offer` is called with set, bucket and value if the bucket wants an exemplar.
    #[inline(always)]
    pub(crate) fn record<N: Sample>(&'static self, set: usize, value: N, offer: impl Fn(usize, usize, f64)) {
        // The most common case, and nothing else: what is needed for others would have to be saved and brought back here.
        if let (Some(row), Buckets::Explicit(bounds)) = (self.own_row(set), self.meta.buckets)
            && value.is_addable()
        {
            let bucket = histogram::explicit_bucket(bounds, value.as_f64());
            if row.record(bucket, true, value) {
                offer(set, bucket, value.as_f64());
            }
        } else {
            self.record_slowly(set, value, offer);
        }
    }

    /// The row of a set of labels in the stripe that is this thread's own, if there is one.
    #[inline(always)]
    fn own_row(&'static self, set: usize) -> Option<Row<'static>> {
        let rows = self.table().own(stripe::own());
        if rows.is_null() || set >= self.cells {
            return None;
        }
        // SAFETY: a stripe of this histogram has a pointer for each of its `self.cells` sets.
        let row = unsafe { histogram::row_place(rows, set) }.load(Acquire);
        // SAFETY: rows of this histogram are made by `histogram::make` for its shape.
        (!row.is_null()).then(|| unsafe { Row::of(row, &self.meta) })
    }

    #[inline(never)]
    fn record_slowly<N: Sample>(&'static self, set: usize, value: N, offer: impl Fn(usize, usize, f64)) {
        let value = value.plain();
        if set >= self.cells || !value.is_addable() {
            return self.refuse();
        }
        let (row, own) = match self.own_row(set) {
            Some(row) => (row, true),
            None => self.made_row(set),
        };
        let bucket = histogram::bucket_of(&self.meta, value.as_f64());
        if row.record(bucket, own, value) {
            offer(set, bucket, value.as_f64());
        }
    }

    /// The row of a set of labels, which is made if there is none, and whether it is this thread's own.
    #[cold]
    fn made_row(&'static self, set: usize) -> (Row<'static>, bool) {
        let mine = stripe::mine();
        let rows = self.ready_table().stripe_or(mine, || table::pointers(self.cells).cast());
        // SAFETY: as in `own_row`; the caller has checked `set`.
        let place = unsafe { histogram::row_place(rows, set) };
        let row = table::publish(place, || histogram::make(&self.meta));
        // SAFETY: as in `own_row`.
        (unsafe { Row::of(row, &self.meta) }, matches!(mine, Stripe::Own(_)))
    }

    /// A bucket has taken an exemplar. In a shared stripe it is not remembered: then each measurement may be one.
    pub(crate) fn took(&'static self, set: usize, bucket: usize, epoch: u64) {
        if let Some(row) = self.own_row(set) {
            row.took(bucket, epoch);
        }
    }
}

/// Reading.
impl Metric {
    /// The cells of all stripes, added up: for each its sum, and whether it was touched.
    pub(crate) fn sums<N: Sum>(&self, table: &Table) -> Vec<Option<N>> {
        let mut sums = vec![None; self.cells];
        for stripe in table.used() {
            for (at, sum) in sums.iter_mut().enumerate() {
                // SAFETY: as in `add_in`.
                let cell = unsafe { &*stripe.cast::<AtomicU64>().add(at) }.load(Relaxed);
                if cell != 0 {
                    *sum = Some(sum.unwrap_or(N::ZERO).plus(N::held(cell)));
                }
            }
        }
        sums
    }

    /// The bits of a gauge's values, for each set that has one.
    pub(crate) fn last_values(&self, table: &Table, unset: u64) -> Vec<Option<u64>> {
        let cells = table.gauges();
        let value = |at: usize| {
            // SAFETY: as in `add_in`.
            let cell = unsafe { &*cells.cast::<AtomicU64>().add(at) }.load(Relaxed);
            (cell != 0).then_some(cell ^ unset)
        };
        if cells.is_null() { Vec::new() } else { (0..self.cells).map(value).collect() }
    }

    /// The rows of a histogram, added up, for each set that has any.
    pub(crate) fn totals<N: Sample>(&self, table: &Table) -> Vec<Option<Total>> {
        let mut totals: Vec<Option<Total>> = vec![None; self.cells];
        for stripe in table.used() {
            for (set, total) in totals.iter_mut().enumerate() {
                // SAFETY: as in `own_row`.
                let row = unsafe { histogram::row_place(stripe, set) }.load(Acquire);
                if !row.is_null() {
                    let total = total.get_or_insert_with(|| Total::new(histogram::buckets(&self.meta)));
                    // SAFETY: as in `own_row`.
                    unsafe { Row::of(row, &self.meta) }.add_to::<N>(total);
                }
            }
        }
        totals
    }
}

#[inline(always)]
fn up_or_down(set: usize, down: bool) -> usize {
    set.saturating_mul(2).saturating_add(usize::from(down))
}

impl std::fmt::Debug for Metric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metric").field("name", &self.meta.name).finish_non_exhaustive()
    }
}

impl MetricMeta {
    /// Bytes that each thread which uses all of it takes.
    pub const fn bytes_per_thread(&self) -> usize {
        let sets = self.sets();
        match self.kind {
            MetricKind::Counter => table::cells_bytes(sets),
            MetricKind::UpDownCounter => table::cells_bytes(sets.saturating_mul(2)),
            MetricKind::Gauge => 0,
            MetricKind::Histogram => {
                let row = table::cells_bytes(histogram::row_words(self)).saturating_add(size_of::<usize>());
                sets.saturating_mul(row)
            }
        }
    }

    /// Bytes that it takes at most, with all its series used by more threads than there are stripes. A metric that is
    /// declared and not used takes only its static.
    pub const fn bytes(&self) -> usize {
        let stripes = self.bytes_per_thread().saturating_mul(stripe::STRIPES - 1 + stripe::SHARED);
        let gauges = if matches!(self.kind, MetricKind::Gauge) { table::cells_bytes(self.sets()) } else { 0 };
        let exemplars = match (self.kind, self.buckets) {
            (MetricKind::Histogram, Buckets::Explicit(bounds)) => bounds.len() + 1,
            (MetricKind::Histogram, Buckets::Exponential) => exponential::BUCKETS,
            _ => 0,
        };
        let exemplars = exemplars.saturating_mul(self.sets()).saturating_mul(2 * size_of::<Exemplar>());
        let fixed = size_of::<Metric>() + size_of::<Table>();
        stripes.saturating_add(gauges).saturating_add(exemplars).saturating_add(fixed)
    }

    /// Whether sums and values of this metric are fractions.
    pub(crate) fn is_f64(&self) -> bool {
        self.number == NumberType::F64
    }
}
