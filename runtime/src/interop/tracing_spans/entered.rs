//! The spans of `tracing` that are entered on this thread. They may be exited in any order.

use std::cell::RefCell;

use crate::declare::callsite::Kind;
use crate::trace::context::{Attached, Context};

/// The number of a layer, and the id of a span of its subscriber.
pub(super) type Who = (u64, u64);

thread_local! {
    static ENTERED: RefCell<Vec<(Who, Attached)>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn enter(who: Who, context: &Context, kind: Kind) {
    let attached = context.attach_as(kind);
    // While the thread is ending, the span is exited immediately.
    let _ = ENTERED.try_with(|entered| entered.borrow_mut().push((who, attached)));
}

pub(super) fn exit(who: Who) {
    let last = |entered: &RefCell<Vec<(Who, Attached)>>| {
        let mut entered = entered.borrow_mut();
        let at = entered.iter().rposition(|(known, _)| *known == who)?;
        Some(entered.remove(at))
    };
    drop(ENTERED.try_with(last));
}
