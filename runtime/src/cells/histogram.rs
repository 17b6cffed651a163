//! The rows of a histogram: for each set of label values, in each stripe that is used, buckets, sum, least and most.
//!
//! There is no count: it is the sum of the buckets, so the two always agree.

use std::sync::atomic::AtomicPtr;

use super::exemplar::Taken;
use super::exponential;
use super::stripe;
use super::sum::{Sum, TOUCHED};
use super::table;
use crate::metric::{Buckets, MetricMeta, NumberType};
use crate::sync::{AtomicU64, Relaxed};

// Words of a row, in front of its buckets.
const TAKEN: usize = 0;
const SUM: usize = 1;
const LEAST: usize = 2;
const MOST: usize = 3;
const HEADER: usize = 4;

/// How many buckets a row has.
pub(crate) const fn buckets(meta: &MetricMeta) -> usize {
    match meta.buckets {
        Buckets::Explicit(bounds) => bounds.len() + 1,
        Buckets::Exponential => exponential::BUCKETS,
    }
}

/// How many words a row has.
pub(crate) const fn row_words(meta: &MetricMeta) -> usize {
    HEADER + buckets(meta)
}

/// A number that can be recorded: its value as a fraction, and bits that compare as the numbers do.
pub(crate) trait Sample: Sum {
    fn as_f64(self) -> f64;

    /// The least and the most of a row that has none yet are the most and the least possible. As positive fractions
    /// compare like their bits, both kinds of numbers are compared as whole numbers.
    fn order(self) -> u64;
}

impl Sample for u64 {
    #[inline(always)]
    fn as_f64(self) -> f64 {
        self as f64
    }

    #[inline(always)]
    fn order(self) -> u64 {
        self
    }
}

impl Sample for f64 {
    #[inline(always)]
    fn as_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn order(self) -> u64 {
        // Without the sign of -0.0.
        self.to_bits() & !TOUCHED
    }
}

/// The bucket of a value.
#[inline(always)]
pub(crate) fn bucket_of(meta: &MetricMeta, value: f64) -> usize {
    match meta.buckets {
        Buckets::Explicit(bounds) => bounds.iter().map(|bound| usize::from(value > *bound)).sum(),
        Buckets::Exponential => exponential::bucket(value, first_exponent(meta)),
    }
}

pub(crate) const fn first_exponent(meta: &MetricMeta) -> i32 {
    exponential::first_exponent(matches!(meta.number, NumberType::U64))
}

/// A row of a histogram. Its words are those of the metric that it belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a>(&'a [AtomicU64]);

impl<'a> Row<'a> {
    /// # Safety
    /// `row` was made by `make` for a metric of this shape.
    #[inline(always)]
    pub(crate) unsafe fn of(row: *const AtomicU64, meta: &MetricMeta) -> Self {
        // SAFETY: it has as many words, by the contract, and is never freed.
        Row(unsafe { std::slice::from_raw_parts(row, row_words(meta)) })
    }

    /// Records a value, in a stripe of the calling thread's own or in a shared one.
    #[inline(always)]
    pub(crate) fn record<N: Sample>(
        self,
        meta: &MetricMeta,
        stripe: usize,
        set: usize,
        value: N,
    ) -> Option<Wanting<'a>> {
        let bucket = bucket_of(meta, value.as_f64());
        let own = stripe::is_own(stripe);
        update(&self.0[HEADER + bucket], own, |count| count + 1);
        update(&self.0[SUM], own, |sum| value.added_to(sum));
        let order = value.order();
        if order < self.0[LEAST].load(Relaxed) {
            update(&self.0[LEAST], own, |least| least.min(order));
        }
        if order + 1 > self.0[MOST].load(Relaxed) {
            update(&self.0[MOST], own, |most| most.max(order + 1));
        }
        let wants = !Taken(self.0[TAKEN].load(Relaxed)).has(bucket);
        wants.then(|| Wanting { taken: &self.0[TAKEN], set, bucket, value: value.as_f64() })
    }

    /// Adds what it holds to `total`.
    pub(crate) fn add_to<N: Sample>(self, total: &mut Total) {
        for (at, count) in total.counts.iter_mut().enumerate() {
            *count += self.0[HEADER + at].load(Relaxed);
        }
        total.sum = N::held(self.0[SUM].load(Relaxed)).added_to(total.sum);
        total.least = total.least.min(self.0[LEAST].load(Relaxed));
        total.most = total.most.max(self.0[MOST].load(Relaxed));
    }
}

/// A bucket that has taken no exemplar since the last collection, and a value that it could take.
pub(crate) struct Wanting<'a> {
    taken: &'a AtomicU64,
    pub(crate) set: usize,
    pub(crate) bucket: usize,
    pub(crate) value: f64,
}

impl Wanting<'_> {
    /// It took one. Threads that share a stripe may forget each other's, and then take another one.
    pub(crate) fn took(&self, epoch: u64) {
        self.taken.store(Taken(self.taken.load(Relaxed)).with(self.bucket, epoch).0, Relaxed);
    }
}

/// Rows of one label set, added up. Sum, least and most are as in a row; most is one more than the number.
#[derive(Clone, Debug)]
pub(crate) struct Total {
    pub(crate) counts: Vec<u64>,
    pub(crate) sum: u64,
    pub(crate) least: u64,
    pub(crate) most: u64,
}

impl Total {
    pub(crate) fn new(buckets: usize) -> Self {
        Total { counts: vec![0; buckets], sum: 0, least: u64::MAX, most: 0 }
    }

    /// Records a value, as a row does.
    pub(crate) fn record<N: Sample>(&mut self, meta: &MetricMeta, value: N) {
        self.counts[bucket_of(meta, value.as_f64())] += 1;
        self.sum = value.added_to(self.sum);
        self.least = self.least.min(value.order());
        self.most = self.most.max(value.order() + 1);
    }
}

/// Changes a cell: with a load and a store where nobody else writes, else in one step.
#[inline(always)]
pub(crate) fn update(cell: &AtomicU64, own: bool, change: impl Fn(u64) -> u64) {
    if own {
        cell.store(change(cell.load(Relaxed)), Relaxed);
        return;
    }
    let mut now = cell.load(Relaxed);
    while let Err(other) = cell.compare_exchange_weak(now, change(now), Relaxed, Relaxed) {
        now = other;
    }
}

/// A row in which nothing was recorded yet.
pub(crate) fn make(meta: &MetricMeta) -> *mut AtomicU64 {
    let row = table::cells(row_words(meta));
    // SAFETY: `row` has that many words and nobody else knows it yet.
    unsafe { &*row.add(LEAST) }.store(u64::MAX, Relaxed);
    row
}

/// The pointer to the row of `set` in a stripe of a histogram.
///
/// # Safety
/// `stripe` was made by `table::pointers` for more sets than `set`.
#[inline(always)]
pub(crate) unsafe fn row_place<'a>(stripe: *mut (), set: usize) -> &'a AtomicPtr<AtomicU64> {
    // SAFETY: in bounds and never freed, by the contract.
    unsafe { &*stripe.cast::<AtomicPtr<AtomicU64>>().add(set) }
}
