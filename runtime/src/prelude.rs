//! The items that most instrumented files need: `use tracecast::prelude::*;`.

pub use crate::{
    FutureInSpan as _, InternedKey as _, StreamInSpan as _, TcError, TcLabel, tc_metric, tc_metrics, tc_scope, tc_span,
};
