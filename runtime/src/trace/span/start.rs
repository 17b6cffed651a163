//! Records the fields at a span's start and the results at its end.

use std::fmt;
use std::sync::Arc;

use super::relatives::IntoLinks;
use crate::declare::key::{Key, KeyMeta, KeyOf};
use crate::declare::value::{IntoValue, OwnedValue, formatted};
use crate::record::block::{BlockRef, FAILED};
use crate::record::fields::{self, Filled};
use crate::record::layout::owned;
use crate::trace::context::{self, Context};
use crate::trace::error::{self, ErrorInfo};

/// Collects the fields of a span that is about to start.
///
/// The counts are kept here, in registers, until all fields are written; otherwise each attribute would wait for the store of the
/// previous one.
pub struct Start {
    block: BlockRef,
    filled: Filled,
    /// The value of `fields::bound` when the span was opened.
    bound: u32,
}

impl Start {
    #[inline(always)]
    pub(super) fn fill<F: FnOnce(&mut Start)>(block: BlockRef, fields: F) {
        let mut start = Start { block, filled: Filled::EMPTY, bound: fields::bound() };
        fields(&mut start);
        start.filled.store(block);
    }

    /// Adds fields to a span that may already have some.
    #[inline(always)]
    pub(super) fn fill_more<F: FnOnce(&mut Start)>(block: BlockRef, fields: F) {
        let mut start = Start { block, filled: Filled::of(block), bound: fields::bound() };
        fields(&mut start);
        start.filled.store(block);
    }

    /// Records an attribute whose key is not on the span yet.
    #[inline(always)]
    pub fn add<K: Key>(&mut self, _key: fn() -> KeyOf<K>, value: impl IntoValue<K::Value>) {
        self.attr::<K>(value);
    }

    /// Stores the counts in the block, calls `f` with the block, and reads the counts again.
    fn with_block(&mut self, f: impl FnOnce(BlockRef)) {
        self.filled.store(self.block);
        f(self.block);
        self.filled = Filled::of(self.block);
    }

    /// Records an attribute.
    #[inline(always)]
    pub fn attr<K: Key>(&mut self, value: impl IntoValue<K::Value>) {
        value.with_value(|value| {
            self.filled = fields::attribute_at(self.block, self.filled, self.bound, K::META, value);
        });
    }

    /// Records an attribute on this span and, as an inherited key, on every span below it.
    pub fn share<K: Key>(&mut self, value: impl IntoValue<K::Value>) {
        value.with_value(|value| share(self.block, K::META, owned(K::META, value)));
    }

    /// Links the span to one or several contexts.
    pub fn link<L: IntoLinks>(&mut self, links: L) {
        self.with_block(|block| links.for_each_link(&mut |context| link(block, context)));
    }

    /// Sets the span's name at run time.
    pub fn name(&mut self, name: fmt::Arguments<'_>) {
        self.with_block(|block| formatted(&name, |name| fields::name(block, name)));
    }
}

fn share(block: BlockRef, key: &'static KeyMeta, value: Option<OwnedValue>) {
    let Some(value) = value else { return };
    let propagated = context::propagated_of(block).unwrap_or_default().sharing(key, value);
    context::set_propagated(block, Some(Arc::new(propagated)));
}

pub(crate) fn link(block: BlockRef, context: &Context) {
    if context.is_valid() {
        let (trace_id, span_id) = context.ids();
        fields::link(block, trace_id, span_id, context.is_sampled());
    }
}

/// Records attributes and errors from a span's result.
pub struct End {
    pub(crate) block: BlockRef,
}

impl End {
    /// Records an attribute.
    #[inline(always)]
    pub fn attr<K: Key>(&mut self, value: impl IntoValue<K::Value>) {
        value.with_value(|value| {
            let filled = fields::attribute_at(self.block, Filled::of(self.block), fields::bound(), K::META, value);
            filled.store(self.block);
        });
    }

    /// Records an error and marks the span as failed.
    #[cold]
    pub fn fail(&mut self, error: &ErrorInfo<'_>) {
        fail(self.block, error);
    }
}

#[cold]
pub(crate) fn fail(block: BlockRef, info: &ErrorInfo<'_>) {
    block.raise(FAILED);
    error::record(block, info);
}
