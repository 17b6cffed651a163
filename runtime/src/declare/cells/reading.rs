//! Reads cells: adds up the stripes of a metric.

use std::sync::atomic::fence;

use super::Metric;
use super::histogram::{self, Row, Sample, Total};
use super::sum::Sum;
use super::table::Table;
use crate::base::sync::{Acquire, AtomicU64, Relaxed};

impl Metric {
    /// Adds up the cells of all stripes. Returns the sum of each cell; `None` for a cell that no stripe uses.
    pub(crate) fn sums<N: Sum>(&self, table: &Table) -> Vec<Option<N>> {
        let mut sums = vec![None; self.cells];
        for stripe in table.used() {
            // SAFETY: as in `add_in`: a stripe of this metric has `self.cells` cells.
            let cells = unsafe { cells_of(stripe, self.cells) };
            for_touched(cells, |at, cell| sums[at] = Some(sums[at].unwrap_or(N::ZERO).plus(N::held(cell))));
        }
        sums
    }

    /// Returns for each label set the sum of its additions and the sum of its subtractions; `None` for an unused label set.
    pub(crate) fn movements<N: Sum>(&self, table: &Table) -> Vec<Option<(N, N)>> {
        let mut sums: Vec<[Option<N>; 2]> = vec![[None; 2]; self.cells / 2];
        // Subtractions are read first: each follows its addition, so the difference is never below zero.
        for down in [1, 0] {
            for stripe in table.used() {
                for (set, sums) in sums.iter_mut().enumerate() {
                    // SAFETY: as in `add_in`.
                    let cell = unsafe { &*stripe.cast::<AtomicU64>().add(2 * set + down) }.load(Relaxed);
                    if cell != 0 {
                        sums[down] = Some(sums[down].unwrap_or(N::ZERO).plus(N::held(cell)));
                    }
                }
            }
            fence(Acquire);
        }
        let pair = |[up, down]: [Option<N>; 2]| match (up, down) {
            (None, None) => None,
            (up, down) => Some((up.unwrap_or(N::ZERO), down.unwrap_or(N::ZERO))),
        };
        sums.into_iter().map(pair).collect()
    }

    /// Returns the label sets of a gauge that have a value, each with the bits of the value. `unset` is the bit pattern for "no
    /// value".
    pub(crate) fn last_values(&self, table: &Table, unset: u64) -> Vec<(usize, u64)> {
        let stripe = table.gauges();
        let mut values = Vec::new();
        if !stripe.is_null() {
            // SAFETY: as in `add_in`: a stripe of this metric has `self.cells` cells.
            let cells = unsafe { cells_of(stripe, self.cells) };
            for_touched(cells, |set, cell| values.push((set, cell ^ unset)));
        }
        values
    }

    /// Returns the total of each label set of a histogram; `None` for an unused label set.
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

/// The number of cells checked at once, so that unused ones, the majority in a metric with many label sets, are skipped quickly.
const LINE: usize = 8;

/// Calls `with` with the index and the content of each used cell.
fn for_touched(cells: &[AtomicU64], mut with: impl FnMut(usize, u64)) {
    let mut each = |first: usize, cells: &[AtomicU64]| {
        for (at, cell) in (first..).zip(cells) {
            let cell = cell.load(Relaxed);
            if cell != 0 {
                with(at, cell);
            }
        }
    };
    let (lines, rest) = cells.as_chunks::<LINE>();
    for (at, line) in lines.iter().enumerate() {
        if line.iter().fold(0, |any, cell| any | cell.load(Relaxed)) != 0 {
            each(at * LINE, line);
        }
    }
    each(lines.len() * LINE, rest);
}

/// Returns the cells of a stripe.
///
/// # Safety
/// `stripe` has `cells` cells. Stripes are never freed.
unsafe fn cells_of<'a>(stripe: *mut (), cells: usize) -> &'a [AtomicU64] {
    // SAFETY: by the contract the cells exist and are never freed; they are only accessed as atomics.
    unsafe { std::slice::from_raw_parts(stripe.cast::<AtomicU64>(), cells) }
}
