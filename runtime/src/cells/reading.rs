//! Reading cells: the stripes of a metric, added up.

use std::sync::atomic::fence;

use super::Metric;
use super::histogram::{self, Row, Sample, Total};
use super::sum::Sum;
use super::table::Table;
use crate::sync::{Acquire, AtomicU64, Relaxed};

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

    /// What was added and what was taken away, for each set that was touched.
    pub(crate) fn movements<N: Sum>(&self, table: &Table) -> Vec<Option<(N, N)>> {
        let mut sums: Vec<[Option<N>; 2]> = vec![[None; 2]; self.cells / 2];
        // What was taken away is read first: each of it was added before, so a level never seems to be below zero.
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
