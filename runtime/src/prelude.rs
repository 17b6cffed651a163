//! What most files that are instrumented need: `use tracecast::prelude::*;`.

pub use crate::{
    Context, FutureInSpan as _, InternedKey as _, StreamInSpan as _, TcError, TcLabel, current, tc_metric, tc_metrics,
    tc_scope, tc_span,
};
