//! The span of a block of code: a guard.

use std::mem::ManuallyDrop;

use super::enter::finish;
use super::handmade::Span;
use crate::record::block::{BEGAN_UNWINDING, BlockRef, RECORDING};
use crate::record::bridge;
use crate::record::clock;
use crate::record::finished::Outcome;
use crate::record::local;
use crate::trace::metrics::Metrics;

/// The span of a block of code: it ends when the guard is dropped. Made by `tc_scope!`.
///
/// It cannot go to another thread. Guards dropped out of order, or never, leave the other spans as they are.
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
pub struct Scope<M: Metrics = ()> {
    block: Option<BlockRef>,
    metrics: M,
}

impl<M: Metrics> Scope<M> {
    /// A scope around what was entered.
    #[inline]
    pub(super) fn of(block: Option<BlockRef>, mut metrics: M) -> Self {
        if std::thread::panicking() {
            metrics.if_dropped(Outcome::Ok);
            if let Some(block) = block {
                block.raise(BEGAN_UNWINDING);
            }
        }
        Scope { block, metrics }
    }

    /// A scope without a span.
    pub const fn none() -> Self {
        Scope { block: None, metrics: M::NONE }
    }
}

impl<M: Metrics> Drop for Scope<M> {
    #[inline]
    fn drop(&mut self) {
        if !self.metrics.is_none() {
            if !std::thread::panicking() {
                self.metrics.if_dropped(Outcome::Ok);
            }
            // Inside of the span. Each reads the clock for itself: guards are the rare form.
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

impl From<Scope> for Span {
    /// Takes the scope off the thread: it is entered where the span is.
    fn from(scope: Scope) -> Self {
        let Some(block) = ManuallyDrop::new(scope).block else { return Span::none() };
        local::with(|local| local.remove(block));
        bridge::left(block);
        Span::owning(block)
    }
}
