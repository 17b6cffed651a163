//! The context of a span that is not ours: ids and sampling are the same as for ours.

use crate::bridge::Place;
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
        let (trace_id, sampled) = (parent.trace_id().0, parent.is_sampled());
        return Context::foreign(Place { trace_id, span_id, sampled, is_remote: false });
    }
    let sampled = sampling::samples(new_trace_id, name, kind);
    Context::foreign(Place { trace_id: new_trace_id, span_id, sampled, is_remote: false })
}
