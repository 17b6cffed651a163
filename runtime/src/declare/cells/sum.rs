//! How numbers lie in a cell.
//!
//! A cell of a sum holds what was added, which never is negative, so its top bit is free: it says that something was
//! added, even if that was 0. A cell that was never touched is all zeroes, as it came from the allocator. In a cell of
//! fractions the top bit is the sign: it holds the sum below zero, and adding is taking away.

use std::sync::atomic::Ordering;

use crate::base::sync::{AtomicU64, Relaxed, Release};

/// Says that a cell was touched.
pub(crate) const TOUCHED: u64 = 1 << 63;

/// Numbers that a cell can sum up.
pub(crate) trait Sum: Copy {
    /// Whether it can be added: it is neither negative nor infinite nor no number, and leaves the top bit free.
    fn is_addable(self) -> bool;
    /// The same number, without the sign of a zero.
    fn plain(self) -> Self;
    /// A cell that was touched before, after it was added.
    fn more(self, cell: u64) -> u64;
    /// Any cell, after it was added.
    #[inline(always)]
    fn added_to(self, cell: u64) -> u64 {
        self.more(cell) | TOUCHED
    }
    /// What a touched cell holds.
    fn held(cell: u64) -> Self;
    /// Two sums in one.
    fn plus(self, other: Self) -> Self;
    /// What came since `earlier`.
    fn since(self, earlier: Self) -> Self;
    /// Nothing.
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
        // Seen as whole numbers, all that is negative or no number is above infinity.
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

/// Changes a cell: with a load and a store where nobody else writes, else in one step.
#[inline(always)]
pub(crate) fn update(cell: &AtomicU64, own: bool, change: impl Fn(u64) -> u64) {
    update_in_order(cell, own, Relaxed, change);
}

/// The same after all that this thread changed before, for those who see it with Acquire.
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

/// Numbers that a gauge can hold. One bit pattern, which no value may have, says that there is none.
pub(crate) trait Last: Copy {
    /// The pattern that stands for "no value", seen as a number.
    const UNSET: u64;
    /// Whether it can be set.
    fn is_settable(self) -> bool;
    /// Its bits.
    fn bits(self) -> u64;
}

impl Last for f64 {
    // A NaN; none of them is ever set.
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

    // What travels is an `i64`.
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
    fn what_cannot_be_added() {
        let refused = [f64::NAN, f64::INFINITY, -1.0, f64::NEG_INFINITY];
        assert!(refused.iter().all(|value| !value.is_addable()));
        assert!(0.0.is_addable() && f64::MAX.is_addable() && (-0.0).plain().is_addable());
        assert!(!u64::MAX.is_addable() && (u64::MAX >> 1).is_addable());
    }

    #[test]
    fn what_cannot_be_set() {
        assert!(!f64::NAN.is_settable() && !f64::INFINITY.is_settable() && (-3.5).is_settable());
        assert!(!u64::MAX.is_settable() && !i64::MIN.is_settable() && i64::MAX.is_settable());
    }
}
