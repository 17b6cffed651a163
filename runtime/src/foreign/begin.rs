//! The context of a span that is not ours: ids and sampling are the same as for ours.

use crate::callsite::Kind;
use crate::context::Context;
use crate::{local, sampling};

/// The context of a new span: a child is sampled as its parent is, a root as the sampler says.
pub(crate) fn begin(parent: &Context, name: &str, kind: Kind) -> Context {
    let (new_trace_id, span_id) = local::with(|local| {
        local.ids.ensure_seeded();
        (local.ids.trace_id(), local.ids.span_id())
    });
    if parent.is_valid() {
        return Context::foreign(parent.trace_id().0, span_id, parent.is_sampled(), false);
    }
    Context::foreign(new_trace_id, span_id, sampling::samples(new_trace_id, name, kind), false)
}
