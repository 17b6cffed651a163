//! Creates the contexts of spans of other APIs, with ids and sampling as for our own spans.

use crate::declare::callsite::Kind;
use crate::record::bridge::Place;
use crate::record::{local, sampling};
use crate::trace::context::Context;

/// Creates the context of a new span. A child has the sampling decision of its parent; for a root the sampler decides.
pub(crate) fn begin(parent: &Context, name: &str, kind: Kind) -> Context {
    let (new_trace_id, span_id) = local::with(|local| {
        local.ids.ensure_seeded();
        (local.ids.trace_id(), local.ids.span_id())
    });
    if parent.is_valid() {
        let place = parent.place();
        return Context::external(Place { span_id, is_remote: false, ..place });
    }
    let sampled = sampling::samples(new_trace_id, name, kind);
    Context::external(Place { trace_id: new_trace_id, span_id, sampled, is_random: true, is_remote: false })
}
