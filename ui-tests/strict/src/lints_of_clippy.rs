//! Lints of clippy: the expectations count only when clippy runs.

#![deny(unfulfilled_lint_expectations)]

use std::future::ready;

use tracecast::{tc_scope, tc_span};

/// An argument that could be borrowed.
#[expect(clippy::needless_pass_by_value, reason = "on purpose")]
#[must_use]
#[tc_span("Clippy/ByValue")]
pub fn by_value(text: String) -> usize {
    text.len()
}

/// A value that nobody has to use.
#[expect(clippy::must_use_candidate, reason = "on purpose")]
#[tc_span("Clippy/MustUse")]
pub fn must_use(x: u8) -> u8 {
    x + 1
}

/// Does not say which errors.
#[expect(clippy::missing_errors_doc, reason = "on purpose")]
#[tc_span("Clippy/ErrorsDoc")]
pub fn errors_doc(x: u8) -> Result<u8, String> {
    if x == 0 { Err(String::new()) } else { Ok(x) }
}

/// A binding that is only returned.
#[expect(clippy::let_and_return, reason = "on purpose")]
#[must_use]
#[tc_span("Clippy/LetAndReturn")]
pub fn let_and_return() -> u8 {
    let x = 1;
    x
}

/// As above.
#[expect(clippy::let_and_return, reason = "on purpose")]
#[tc_span("Clippy/AsyncLetAndReturn")]
pub async fn async_let_and_return() -> u8 {
    let x = ready(1).await;
    x
}

/// More than anyone can remember.
#[expect(clippy::too_many_arguments, reason = "on purpose")]
#[tc_span("Clippy/Arguments")]
pub async fn arguments(x1: u8, x2: u8, x3: u8, x4: u8, x5: u8, x6: u8, x7: u8, x8: u8) -> u8 {
    ready(x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8).await
}

/// A reference to a vector.
#[expect(clippy::ptr_arg, reason = "on purpose")]
#[must_use]
#[tc_span("Clippy/PtrArg")]
pub fn ptr_arg(v: &Vec<u8>) -> usize {
    v.len()
}

/// A clone that nobody needs.
#[expect(clippy::redundant_clone, reason = "on purpose")]
#[must_use]
#[tc_span("Clippy/Clone")]
pub fn redundant_clone() -> String {
    let text = String::from("a");
    text.clone()
}

/// Could be a constant function, were it not for its span.
#[must_use]
#[tc_span("Clippy/Const")]
pub fn not_const() -> u8 {
    1
}

struct Methods;

impl Methods {
    #[expect(clippy::unused_self, reason = "on purpose")]
    #[tc_span("Clippy/UnusedSelf")]
    fn unused_self(&self) {}

    #[expect(clippy::unused_self, reason = "on purpose")]
    #[tc_span("Clippy/AsyncUnusedSelf")]
    async fn async_unused_self(&self) {
        ready(()).await;
    }
}

/// Uses the methods.
pub async fn uses_methods() {
    Methods.unused_self();
    Methods.async_unused_self().await;
}

/// A scope held across an `.await`: `clippy.toml` beside this crate's manifest, which the book shows, has Clippy find it.
#[expect(clippy::await_holding_invalid_type, reason = "the user's own mistake")]
#[expect(clippy::future_not_send, reason = "a guard belongs to a thread")]
pub async fn scope_across_an_await() {
    let _scope = tc_scope!("Clippy/ScopeAcrossAwait");
    ready(()).await;
}

/// A context held across an `.await`.
#[expect(clippy::await_holding_invalid_type, reason = "the user's own mistake")]
#[expect(clippy::future_not_send, reason = "a guard belongs to a thread")]
pub async fn context_across_an_await() {
    let _attached = tracecast::Context::current().attach();
    ready(()).await;
}
