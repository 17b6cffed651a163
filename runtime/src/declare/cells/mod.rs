//! The cells of metrics: dense arrays, indexed by the ordinals of labels. A metric has several such arrays, called stripes: the
//! first threads have a stripe each, and further threads share a few. All threads use the same cells of a gauge.
//!
//! An update takes no lock and hashes nothing. It allocates only when a thread first uses a metric, or a label set of a
//! histogram. Readers add up the stripes. Cells of sums and histograms only grow, so no count is lost between two readings.

mod bytes;
mod exemplar;
pub(crate) mod exponential;
pub(crate) mod histogram;
mod reading;
mod stripe;
mod sum;
mod table;
mod used;

use std::ptr;
use std::sync::atomic::{AtomicI8, AtomicPtr, AtomicU64 as Count, fence};

use self::histogram::{Row, Sample};
use self::stripe::Stripe;
use self::sum::update;
use self::table::EMPTY;
use crate::base::sync::{Acquire, AtomicU64, Relaxed, Release};
use crate::declare::metric::{MetricKind, MetricMeta};
use crate::declare::sections::{LINKED, Source};

pub(crate) use self::exemplar::{Exemplar, Taking, epoch, next_epoch};
pub(crate) use self::histogram::Total;
pub(crate) use self::sum::{Last, Sum};
pub(crate) use self::table::Table;
pub(crate) use self::used::{Used, abandon, lock, restart};

/// Measurements are recorded in the cells. A state is positive only if no other bit is set.
pub(crate) const RECORD: i8 = 1;
/// Measurements are recorded in the sink of the current context, if it has one.
pub(crate) const CAPTURE: i8 = i8::MIN;
/// The metric is not registered yet: on targets without link sections.
pub(crate) const NEW: i8 = 64;

/// One metric: its declaration, its flag, and a pointer to its cells.
#[repr(C)]
pub struct Metric {
    // The first field, as `sections` requires.
    source: &'static Source,
    state: AtomicI8,
    /// The first exponent of an exponential histogram. It is stored because computing it takes longer than finding a
    /// bucket.
    first_exponent: i32,
    /// The number of cells, or rows of a histogram, in a stripe.
    cells: usize,
    table: AtomicPtr<Table>,
    refused: Count,
    meta: MetricMeta,
}

impl Metric {
    /// Creates a metric that is switched off.
    pub const fn new(meta: MetricMeta, source: &'static Source) -> Self {
        let words = if matches!(meta.kind, MetricKind::UpDownCounter) { 2 } else { 1 };
        Metric {
            source,
            state: AtomicI8::new(if LINKED { 0 } else { NEW | i8::MIN }),
            first_exponent: histogram::first_exponent(&meta),
            cells: meta.sets().saturating_mul(words),
            table: AtomicPtr::new((&raw const EMPTY).cast_mut()),
            refused: Count::new(0),
            meta: meta.declared_in(source),
        }
    }

    /// The declaration.
    pub fn meta(&self) -> &MetricMeta {
        &self.meta
    }

    /// Returns a key that sorts declarations with the same name in the same order in every build. The crate comes first: paths of
    /// files differ between machines, but within a crate they sort in the same way.
    pub(crate) fn place(&self) -> impl Ord {
        let Source { crate_name, crate_version, .. } = self.source;
        let location = self.meta.location;
        (*crate_name, *crate_version, location.file(), location.line(), location.column())
    }

    /// Returns the state. While the state is 0, measurements are ignored.
    #[inline(always)]
    pub(crate) fn state(&self) -> i8 {
        if cfg!(feature = "off") { 0 } else { self.state.load(Relaxed) }
    }

    pub(crate) fn set_state(&self, state: i8) {
        self.state.store(state, Relaxed);
    }

    /// Returns the number of rejected measurements: NaN, infinite, negative where not allowed, or with a label out of range.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Relaxed)
    }

    #[cold]
    pub(crate) fn refuse(&self) {
        self.refused.fetch_add(1, Relaxed);
    }

    #[inline(always)]
    pub(crate) fn table(&self) -> &'static Table {
        // SAFETY: only `EMPTY` and tables that are never freed are stored here; Acquire pairs with `set_table`.
        unsafe { &*self.table.load(Acquire) }
    }

    pub(crate) fn set_table(&self, table: &'static Table) {
        self.table.store(ptr::from_ref(table).cast_mut(), Release);
    }

    /// Returns the metric's table. If the metric has none yet, takes the table of another declaration of the same metric, or
    /// creates one.
    pub(crate) fn ready_table(&'static self) -> &'static Table {
        let table = self.table();
        if ptr::eq(table, &EMPTY) { used::table_for(self) } else { table }
    }

    /// Adds `amount` to a cell. Counts the measurement as rejected if the cell does not exist or the amount cannot be added.
    #[inline(always)]
    pub(crate) fn add<N: Sum>(&'static self, cell: usize, amount: N) {
        self.add_in(self.table(), cell, amount);
    }

    /// Adds `size` to a sum that can shrink, or subtracts it if `down`. Additions and subtractions have separate cells, which
    /// both only grow.
    #[inline(always)]
    pub(crate) fn move_by<N: Sum>(&'static self, set: usize, down: bool, size: N) {
        self.move_in(self.table(), set, down, size);
    }

    /// Adds to or subtracts from a sum like `move_by`, but in the table that counted the matching increment or decrement.
    #[inline(always)]
    pub(crate) fn move_in<N: Sum>(&'static self, table: &'static Table, set: usize, down: bool, size: N) {
        if down {
            // A reader that sees a subtraction sees all earlier additions, because it reads subtractions first.
            fence(Release);
        }
        self.add_in(table, up_or_down(set, down), size);
    }

    /// Adds to a cell of this metric's current table, or of an earlier table.
    #[inline(always)]
    pub(crate) fn add_in<N: Sum>(&'static self, table: &'static Table, cell: usize, amount: N) {
        if cell >= self.cells || !amount.is_addable() {
            return self.add_slowly(table, cell, amount);
        }
        let cells = table.own();
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
        let cells = table.stripe_of_cells(mine, self.cells);
        // SAFETY: as in `add_in`.
        let cell = unsafe { &*cells.cast::<AtomicU64>().add(cell) };
        update(cell, matches!(mine, Stripe::Own(_)), |held| amount.added_to(held));
    }

    /// Sets the value of a gauge, or removes it if `value` is `None`. All threads use the same cell.
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
        let cells = self.ready_table().stripe_of_cells(Stripe::Shared(0), self.cells);
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

    /// Records a value in a histogram. If the bucket can take an exemplar, calls `offer` with the marks of the row, the label
    /// set, the bucket and the value.
    #[inline(always)]
    pub(crate) fn record<N: Sample>(&'static self, set: usize, value: N, offer: impl Fn(&Taking, usize, usize, f64)) {
        // Handles only the most common case: registers for the other cases would have to be saved and restored here.
        if let Some(row) = self.own_row(set)
            && value.is_addable()
        {
            let bucket = row.bucket(&self.meta, self.first_exponent, value.as_f64());
            if row.record(bucket, true, value) {
                offer(row.taking(), set, bucket, value.as_f64());
            }
        } else {
            self.record_slowly(set, value, offer);
        }
    }

    /// Returns the row of a label set in this thread's own stripe; `None` if the stripe or the row does not exist yet, or the
    /// label set is out of range.
    #[inline(always)]
    fn own_row(&'static self, set: usize) -> Option<Row<'static>> {
        let rows = self.table().own();
        if rows.is_null() || set >= self.cells {
            return None;
        }
        // SAFETY: a stripe of this histogram has a pointer for each of its `self.cells` sets.
        let row = unsafe { histogram::row_place(rows, set) }.load(Acquire);
        // SAFETY: rows of this histogram are made by `histogram::make` for its shape.
        (!row.is_null()).then(|| unsafe { Row::of(row, &self.meta) })
    }

    #[cold]
    #[inline(never)]
    fn record_slowly<N: Sample>(&'static self, set: usize, value: N, offer: impl Fn(&Taking, usize, usize, f64)) {
        let value = value.plain();
        if set >= self.cells || !value.is_addable() {
            return self.refuse();
        }
        let (row, own) = match self.own_row(set) {
            Some(row) => (row, true),
            None => self.made_row(set),
        };
        let bucket = histogram::bucket_of(&self.meta, self.first_exponent, value.as_f64());
        if row.record(bucket, own, value) {
            offer(row.taking(), set, bucket, value.as_f64());
        }
    }

    /// Returns the row of a label set in the thread's own or shared stripe, and whether the stripe is the thread's own. Creates a
    /// missing row.
    #[cold]
    fn made_row(&'static self, set: usize) -> (Row<'static>, bool) {
        let mine = stripe::mine();
        let rows = self.ready_table().stripe_of_rows(mine, self.cells);
        // SAFETY: as in `own_row`; the caller has checked `set`.
        let place = unsafe { histogram::row_place(rows, set) };
        let row = histogram::row(place, &self.meta);
        // SAFETY: as in `own_row`.
        (unsafe { Row::of(row, &self.meta) }, matches!(mine, Stripe::Own(_)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::instrument::Counter;

    static FIRST_CRATE: Source = Source::new(None, "alpha", "1.0.0");
    static NEXT_VERSION: Source = Source::new(None, "alpha", "2.0.0");
    static LAST_CRATE: Source = Source::new(None, "beta", "1.0.0");

    #[test]
    fn declarations_are_ordered_by_crate_before_their_place() {
        let metrics = [&LAST_CRATE, &NEXT_VERSION, &FIRST_CRATE]
            .map(|source| Metric::new(Counter::<()>::meta("tc_loads_total", "", ""), source));
        let below = Metric::new(Counter::<()>::meta("tc_loads_total", "", ""), &FIRST_CRATE);
        let [beta, two, one] = metrics.each_ref().map(Metric::place);
        assert!(one < two && two < beta && one < below.place() && below.place() < two);
    }
}
