//! The user's own lints go on working on annotated functions: an expectation that is not met fails the build.

#![deny(unfulfilled_lint_expectations)]

use std::future::{Future, ready};
use std::pin::Pin;

use tracecast::tc_span;

#[expect(dead_code, reason = "never called")]
#[tc_span("Lint/Dead")]
fn dead() {}

#[expect(dead_code, reason = "never called")]
#[tc_span("Lint/AsyncDead")]
async fn async_dead() {
    ready(()).await;
}

struct Methods;

#[tc_span(component = "Lint")]
impl Methods {
    #[expect(dead_code, reason = "never called")]
    #[tc_span]
    fn dead_method() {}

    #[expect(dead_code, reason = "never called")]
    #[tc_span]
    async fn async_dead_method() {
        ready(()).await;
    }
}

/// An argument, a part of an argument and a local that nobody reads.
#[expect(unused_variables, reason = "all of them")]
#[tc_span("Lint/Variables")]
pub fn variables(argument: u8, (part, _): (u8, u8)) {
    let local = 1;
}

/// Each of them on its own, so that none answers for another.
#[tc_span("Lint/EachVariable")]
pub fn each_variable(
    #[expect(unused_variables, reason = "never read")] argument: u8,
    #[expect(unused_variables, reason = "never read")] (part, _): (u8, u8),
) {
    #[expect(unused_variables, reason = "never read")]
    let local = 1;
}

/// As above.
#[tc_span("Lint/EachAsyncVariable")]
pub async fn each_async_variable(
    #[expect(unused_variables, reason = "never read")] argument: u8,
    #[expect(unused_variables, reason = "never read")] (part, _): (u8, u8),
) {
    ready(()).await;
    #[expect(unused_variables, reason = "never read")]
    let local = 1;
}

/// In a block that is boxed.
#[must_use]
#[tc_span("Lint/BoxedVariable")]
pub fn boxed_variable(
    #[expect(unused_variables, reason = "never read")] argument: u8,
) -> Pin<Box<dyn Future<Output = ()>>> {
    Box::pin(async {
        #[expect(unused_variables, reason = "never read")]
        let local = 1;
    })
}

/// A `mut` too many.
#[must_use]
#[tc_span("Lint/Mut")]
pub fn mutable(#[expect(unused_mut, reason = "never changed")] mut argument: u8) -> u8 {
    #[expect(unused_mut, reason = "never changed")]
    let mut local = 1;
    argument + local
}

/// As above.
#[tc_span("Lint/AsyncMut")]
pub async fn async_mutable(#[expect(unused_mut, reason = "never changed")] mut argument: u8) -> u8 {
    #[expect(unused_mut, reason = "never changed")]
    let mut local = ready(1).await;
    argument + local
}

/// A value that is overwritten.
#[expect(unused_assignments, unused_variables, reason = "never read")]
#[tc_span("Lint/Assigned")]
pub fn assigned(mut argument: u8) {
    argument = 3;
}

/// As above.
#[expect(unused_assignments, unused_variables, reason = "never read")]
#[tc_span("Lint/AsyncAssigned")]
pub async fn async_assigned(mut argument: u8) {
    ready(()).await;
    argument = 3;
}

/// Statements whose results matter.
#[tc_span("Lint/MustUse")]
pub fn must_use() {
    #[expect(unused_must_use, reason = "never looked at")]
    {
        std::fs::metadata("x");
    }
}

/// As above, and a future that is not awaited.
#[tc_span("Lint/AsyncMustUse")]
pub async fn async_must_use() {
    #[expect(unused_must_use, reason = "never looked at")]
    {
        std::fs::metadata("x");
    }
    #[expect(unused_must_use, reason = "never awaited")]
    {
        annotated_must_use();
    }
    #[expect(unused_must_use, reason = "never looked at")]
    {
        annotated_must_use().await;
    }
    #[expect(unused_must_use, reason = "never awaited")]
    {
        async_variables_user();
    }
    #[expect(deprecated, reason = "it is")]
    annotated_deprecated().await;
}

#[must_use]
#[tc_span("Lint/IsMustUse")]
async fn annotated_must_use() -> u8 {
    ready(1).await
}

#[deprecated]
#[tc_span("Lint/IsDeprecated")]
async fn annotated_deprecated() {
    ready(()).await;
}

#[tc_span("Lint/NotAwaited")]
async fn async_variables_user() {
    each_async_variable(1, (2, 3)).await;
}

/// Code behind a return.
#[must_use]
#[expect(unreachable_code, reason = "on purpose")]
#[tc_span("Lint/Unreachable")]
pub fn unreachable() -> u8 {
    return 1;
    2
}

/// As above.
#[expect(unreachable_code, reason = "on purpose")]
#[tc_span("Lint/AsyncUnreachable")]
pub async fn async_unreachable() -> u8 {
    return ready(1).await;
    2
}

/// Names that do not follow the rules.
#[must_use]
#[expect(non_snake_case, reason = "on purpose")]
#[tc_span("Lint/Names")]
pub fn Names(Argument: u8) -> u8 {
    let Local = 1;
    Argument + Local
}

/// As above.
#[expect(non_snake_case, reason = "on purpose")]
#[tc_span("Lint/AsyncNames")]
pub async fn async_names(Argument: u8) -> u8 {
    let Local = ready(1).await;
    Argument + Local
}

/// Each of them on its own.
#[must_use]
#[tc_span("Lint/EachName")]
pub fn each_name(
    #[expect(non_snake_case, reason = "on purpose")] Argument: u8,
    #[expect(non_snake_case, unused_mut, reason = "on purpose")] mut Mutable: u8,
) -> u8 {
    Argument + Mutable
}

/// As above, also for names that an attribute uses.
#[tc_span("Lint/EachAsyncName", attrs(tracecast::keys::size_bytes = Used + Part))]
pub async fn each_async_name(
    #[expect(non_snake_case, reason = "on purpose")] Argument: u8,
    #[expect(non_snake_case, reason = "on purpose")] Used: u8,
    #[expect(non_snake_case, reason = "on purpose")] (Part, _): (u8, String),
) -> u8 {
    ready(Argument + Used + Part).await
}

/// Nobody reads `id`, though a field is called so.
#[tc_span("Lint/Field", attrs(tracecast::keys::size_bytes = request.id))]
pub async fn field(#[expect(unused_variables, reason = "never read")] id: u8, request: &Request) {
    ready(()).await;
}

/// Something with an id.
#[derive(Debug)]
pub struct Request {
    id: u8,
}

/// Parentheses that do nothing.
#[must_use]
#[expect(unused_parens, reason = "on purpose")]
#[tc_span("Lint/Parens")]
pub fn parens() -> u8 {
    (1)
}

/// As above.
#[expect(unused_parens, reason = "on purpose")]
#[tc_span("Lint/AsyncParens")]
pub async fn async_parens() -> u8 {
    (ready(1).await)
}

#[expect(missing_docs, reason = "on purpose")]
#[tc_span("Lint/Docs")]
pub fn without_docs() {}

#[expect(missing_docs, reason = "on purpose")]
#[tc_span("Lint/AsyncDocs")]
pub async fn async_without_docs() {
    ready(()).await;
}
