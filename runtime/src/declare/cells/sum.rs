//! The representation of numbers in a cell.
//!
//! A sum is never negative, so the top bit of its cell is free: the bit is set once anything was added, even 0. An unused cell
//! is zero, as the allocator returned it. In a cell of floating-point numbers the top bit is the sign. Such a cell holds the
//! negated sum, so a number is added to the sum by subtracting it from the cell.

use std::sync::atomic::Ordering;

use crate::base::sync::{AtomicU64, Relaxed, Release};

/// The bit of a used cell.
pub(crate) const TOUCHED: u64 = 1 << 63;

/// Numbers that a cell can sum up.
pub(crate) trait Sum: Copy {
    /// Returns whether the number can be added: not negative, not infinite, not NaN, and with a free top bit.
    fn is_addable(self) -> bool;
    /// Returns the same number, without the sign of a zero.
    fn plain(self) -> Self;
    /// Adds the number to a used cell and returns the new content.
    fn more(self, cell: u64) -> u64;
    /// Adds the number to any cell and returns the new content.
    #[inline(always)]
    fn added_to(self, cell: u64) -> u64 {
        self.more(cell) | TOUCHED
    }
    /// Returns the sum in a used cell.
    fn held(cell: u64) -> Self;
    /// Adds two sums.
    fn plus(self, other: Self) -> Self;
    /// Returns the difference from an earlier sum, which is never negative.
    fn since(self, earlier: Self) -> Self;
    /// The number zero.
    const ZERO: Self;
}

impl Sum for u64 {
    const ZERO: u64 = 0;

    #[inline(always)]
    fn is_addable(self) -> bool {
        self & TOUCHED == 0
    }

    #[inline(always)]
    fn plain(self) -> Self {
        self
    }

    #[inline(always)]
    fn more(self, cell: u64) -> u64 {
        cell.wrapping_add(self)
    }

    fn held(cell: u64) -> Self {
        cell & !TOUCHED
    }

    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other) & !TOUCHED
    }

    fn since(self, earlier: Self) -> Self {
        self.wrapping_sub(earlier) & !TOUCHED
    }
}

impl Sum for f64 {
    const ZERO: f64 = 0.0;

    #[inline(always)]
    fn is_addable(self) -> bool {
        // Compared as integers, the bits of negative numbers and of NaNs are greater than the bits of infinity.
        self.to_bits() < f64::INFINITY.to_bits()
    }

    #[inline(always)]
    fn plain(self) -> Self {
        if self == 0.0 { 0.0 } else { self }
    }

    #[inline(always)]
    fn more(self, cell: u64) -> u64 {
        (f64::from_bits(cell) - self).to_bits()
    }

    fn held(cell: u64) -> Self {
        f64::from_bits(cell & !TOUCHED)
    }

    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn since(self, earlier: Self) -> Self {
        (self - earlier).max(0.0)
    }
}

/// Changes a cell: with a load and a store in an own stripe, atomically in a shared one.
#[inline(always)]
pub(crate) fn update(cell: &AtomicU64, own: bool, change: impl Fn(u64) -> u64) {
    update_in_order(cell, own, Relaxed, change);
}

/// Changes a cell like `update`, but with Release order: a reader that loads the cell with Acquire sees all earlier changes of
/// this thread.
#[inline(always)]
pub(crate) fn update_last(cell: &AtomicU64, own: bool, change: impl Fn(u64) -> u64) {
    update_in_order(cell, own, Release, change);
}

#[inline(always)]
fn update_in_order(cell: &AtomicU64, own: bool, order: Ordering, change: impl Fn(u64) -> u64) {
    if own {
        cell.store(change(cell.load(Relaxed)), order);
        return;
    }
    let mut now = cell.load(Relaxed);
    while let Err(other) = cell.compare_exchange_weak(now, change(now), order, Relaxed) {
        now = other;
    }
}

/// Numbers that a gauge can hold. The bit pattern `UNSET`, which no value may have, means that there is no value.
pub(crate) trait Last: Copy {
    /// The pattern for "no value", as a number.
    const UNSET: u64;
    /// Returns whether a gauge can hold the number.
    fn is_settable(self) -> bool;
    /// Returns the bits of the number.
    fn bits(self) -> u64;
}

impl Last for f64 {
    // The bits of a NaN: a gauge never holds a NaN.
    const UNSET: u64 = 0x7ff8_0000_0000_7c00;

    #[inline(always)]
    fn is_settable(self) -> bool {
        self.is_finite()
    }

    #[inline(always)]
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

impl Last for u64 {
    const UNSET: u64 = u64::MAX;

    // OTLP transmits the number as an `i64`.
    #[inline(always)]
    fn is_settable(self) -> bool {
        self & TOUCHED == 0
    }

    #[inline(always)]
    fn bits(self) -> u64 {
        self
    }
}

impl Last for i64 {
    const UNSET: u64 = i64::MIN as u64;

    #[inline(always)]
    fn is_settable(self) -> bool {
        self != i64::MIN
    }

    #[inline(always)]
    fn bits(self) -> u64 {
        self as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adding_nothing_touches() {
        assert_eq!(0_u64.added_to(0), TOUCHED);
        assert_eq!(0.0_f64.added_to(0), TOUCHED);
        assert_eq!(u64::held(5_u64.added_to(7_u64.added_to(0))), 12);
        assert_eq!(f64::held(0.0.more(2.5.more(0.5.added_to(0)))), 3.0);
        assert_eq!(f64::held(2.5.more(0.0.added_to(0))), 2.5);
        assert_eq!((0.0.more(TOUCHED), 7_u64.more(TOUCHED)), (TOUCHED, TOUCHED | 7));
    }

    #[test]
    fn numbers_that_cannot_be_added() {
        let refused = [f64::NAN, f64::INFINITY, -1.0, f64::NEG_INFINITY];
        assert!(refused.iter().all(|value| !value.is_addable()));
        assert!(0.0.is_addable() && f64::MAX.is_addable() && (-0.0).plain().is_addable());
        assert!(!u64::MAX.is_addable() && (u64::MAX >> 1).is_addable());
    }

    #[test]
    fn numbers_that_a_gauge_cannot_hold() {
        assert!(!f64::NAN.is_settable() && !f64::INFINITY.is_settable() && (-3.5).is_settable());
        assert!(!u64::MAX.is_settable() && !i64::MIN.is_settable() && i64::MAX.is_settable());
    }
}
