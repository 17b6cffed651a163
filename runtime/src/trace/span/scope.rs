//! The span of a block of code: a guard.

use std::mem::ManuallyDrop;

use super::enter::{Entered, finish};
use super::handmade::Span;
use crate::record::block::{BEGAN_UNWINDING, BlockRef, RECORDING};
use crate::record::bridge;
use crate::record::clock;
use crate::record::finished::Outcome;
use crate::record::local;

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
pub struct Scope {
    block: Option<BlockRef>,
}

impl Scope {
    /// A scope around an entered span.
    #[inline]
    pub fn new(span: Option<Entered>) -> Self {
        let block = span.and_then(|span| span.0);
        if let Some(block) = block
            && std::thread::panicking()
        {
            block.raise(BEGAN_UNWINDING);
        }
        Scope { block }
    }

    /// A scope without a span.
    pub const fn none() -> Self {
        Scope { block: None }
    }
}

impl Drop for Scope {
    #[inline]
    fn drop(&mut self) {
        if let Some(block) = self.block {
            let unwinding = std::thread::panicking() && !block.has(BEGAN_UNWINDING);
            let outcome = if unwinding { Outcome::Panicked } else { Outcome::Ok };
            local::with(|local| {
                let end = if block.has(RECORDING) { clock::now() } else { 0 };
                local.remove(block);
                finish(local, block, end, outcome);
            });
        }
    }
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
