//! Every shape of function that can be annotated: the value is as without the attribute, and spans and metrics are right.
//!
//! Each test looks at its own capture. Nothing here starts recording or metering, so all of them run at the same time.

#[macro_use]
#[path = "../support/metered.rs"]
mod metered;
#[path = "../support/mod.rs"]
mod support;

/// `#[tc_span]`.
mod spans {
    mod async_functions;
    mod boxed_futures;
    mod drop_order;
    mod macros_and_attributes;
    mod methods;
    mod names;
    mod options;
    mod outcomes;
    mod parents;
    mod patterns;
    mod returned_futures;
    mod streams;
    mod sync_functions;
    mod traits;
    mod unsafe_and_extern;
}

/// `#[tc_metric]`, alone and with `#[tc_span]`: metrics and tree of each call.
mod metrics {
    mod functions;
    mod futures;
    mod methods;
    mod results;
    mod streams;
    mod traits;
    mod with_spans;
}
