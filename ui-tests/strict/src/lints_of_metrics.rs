//! The user's own lints go on working on measured functions: an expectation that is not met fails the build.

#![deny(unfulfilled_lint_expectations)]

use std::future::ready;

use tracecast::{tc_metric, tc_span};

#[expect(dead_code, reason = "never called")]
#[tc_metric(calls = "tc_dead_total", duration = "tc_dead_seconds")]
fn dead() {}

#[expect(dead_code, reason = "never called")]
#[tc_metric(calls = "tc_async_dead_total")]
#[tc_span("LintOfMetric/AsyncDead")]
async fn async_dead() {
    ready(()).await;
}

/// Each of them on its own, so that none answers for another.
#[tc_metric(calls = "tc_each_variable_total")]
pub fn each_variable(
    #[expect(unused_variables, reason = "never read")] argument: u8,
    #[expect(unused_variables, reason = "never read")] (part, _): (u8, u8),
) {
    #[expect(unused_variables, reason = "never read")]
    let local = 1;
}

/// As above.
#[tc_metric(calls = "tc_each_async_variable_total", labels(tracecast::keys::device = used))]
pub async fn each_async_variable(
    used: u32,
    #[expect(unused_variables, reason = "never read")] argument: u8,
    #[expect(unused_variables, reason = "never read")] (part, _): (u8, u8),
) {
    ready(()).await;
    #[expect(unused_variables, reason = "never read")]
    let local = 1;
}

/// A `mut` too many.
#[must_use]
#[tc_metric(calls = "tc_mutable_total", labels(tracecast::keys::device = |x| u32::from(*x)))]
pub fn mutable(#[expect(unused_mut, reason = "never changed")] mut argument: u8) -> u8 {
    #[expect(unused_mut, reason = "never changed")]
    let mut local = 1;
    argument + local
}

/// Code behind a return.
#[expect(unreachable_code, reason = "on purpose")]
#[tc_span("LintOfMetric/Unreachable")]
#[tc_metric(calls = "tc_unreachable_total")]
pub async fn unreachable() -> u8 {
    return ready(1).await;
    2
}

/// Futures and values that matter.
#[tc_metric(calls = "tc_must_use_total")]
pub async fn must_use() {
    #[expect(unused_must_use, reason = "never awaited")]
    {
        measured_must_use();
    }
    #[expect(unused_must_use, reason = "never looked at")]
    {
        measured_must_use().await;
    }
}

#[must_use]
#[tc_metric(calls = "tc_is_must_use_total")]
async fn measured_must_use() -> u8 {
    ready(1).await
}

/// Names that do not follow the rules.
#[must_use]
#[expect(non_snake_case, reason = "on purpose")]
#[tc_metric(calls = "tc_names_total")]
pub fn Names(Argument: u8) -> u8 {
    let Local = 1;
    Argument + Local
}

#[expect(missing_docs, reason = "on purpose")]
#[tc_metric(calls = "tc_docs_total")]
pub fn without_docs() {}

tracecast::tc_metrics! {
    #[expect(missing_docs, reason = "on purpose")]
    pub static WITHOUT_DOCS: Counter = "tc_without_docs_total";
    /// A name that does not follow the rules.
    #[expect(non_upper_case_globals, reason = "on purpose")]
    pub static Name: Counter = "tc_name_total";
}
