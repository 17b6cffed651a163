//! The guard for the span of a block of code.

use std::mem::ManuallyDrop;

use super::enter::finish;
use super::manual::Span;
use crate::record::block::{BEGAN_UNWINDING, BlockRef, RECORDING};
use crate::record::bridge;
use crate::record::clock;
use crate::record::finished::Outcome;
use crate::record::local;
use crate::trace::metrics::Metrics;

/// An entered span and its metrics; both end when the guard is dropped.
pub struct Guarded<M: Metrics = ()> {
    block: Option<BlockRef>,
    metrics: M,
}

impl<M: Metrics> Guarded<M> {
    /// Creates the guard of an entered span and its metrics.
    #[inline]
    pub(super) fn of(block: Option<BlockRef>, mut metrics: M) -> Self {
        if std::thread::panicking() {
            metrics.if_dropped(Outcome::Ok);
            if let Some(block) = block {
                block.raise(BEGAN_UNWINDING);
            }
        }
        Guarded { block, metrics }
    }

    /// Creates a guard without a span and metrics.
    #[inline(always)]
    pub fn none() -> Self {
        Guarded { block: None, metrics: M::none() }
    }
}

impl<M: Metrics> Drop for Guarded<M> {
    #[inline]
    fn drop(&mut self) {
        if !self.metrics.is_none() {
            if !std::thread::panicking() {
                self.metrics.if_dropped(Outcome::Ok);
            }
            // The metrics end inside the span. Each reads the clock separately, because guards are the rare form.
            drop(self.metrics.take());
        }
        if let Some(block) = self.block {
            leave(block);
        }
    }
}

#[inline]
fn leave(block: BlockRef) {
    let unwinding = std::thread::panicking() && !block.has(BEGAN_UNWINDING);
    let outcome = if unwinding { Outcome::Panicked } else { Outcome::Ok };
    local::with(|local| {
        let end = if block.has(RECORDING) { clock::now() } else { 0 };
        local.remove(block);
        finish(local, block, end, outcome);
    });
}

/// The span of a block of code, which ends when the guard is dropped. Created by `tc_scope!`.
///
/// A scope cannot move to another thread. Guards that are dropped out of order, or leaked, do not affect other spans.
///
/// ```
/// use tracecast::prelude::*;
///
/// let captured = tracecast::testing::capture(|| {
///     let _load = tc_scope!("Store/Load");
///     drop(tc_scope!("Store/Read"));
/// });
/// captured.assert_tree("
///     Store/Load
///       Store/Read
/// ");
/// ```
#[must_use = "the span ends when the guard is dropped; bind it to a name, as in `let _scope = tc_scope!(..);`"]
pub struct Scope(Guarded);

impl Scope {
    /// Creates the scope of an entered span.
    #[doc(hidden)]
    #[inline(always)]
    pub fn of(guarded: Guarded) -> Self {
        Scope(guarded)
    }

    /// Creates a scope without a span.
    #[doc(hidden)]
    #[inline(always)]
    pub fn none() -> Self {
        Scope(Guarded::none())
    }
}

impl From<Scope> for Span {
    /// Removes the span from this thread's stack. The manual span is entered only where its owner enters it.
    fn from(scope: Scope) -> Self {
        let Some(block) = ManuallyDrop::new(scope.0).block else { return Span::none() };
        local::with(|local| local.remove(block));
        bridge::left(block);
        Span::owning(block)
    }
}
