//! `async fn`s, and functions that return futures and streams.

use std::future::{Future, ready};
use std::pin::Pin;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, Stream, StreamExt as _};
use tracecast::{Context, FutureInSpan as _, tc_scope, tc_span};

use crate::declarations::{StoreError, keys};

/// Nothing but a span.
#[tc_span("Async/Unit")]
pub async fn unit() {
    ready(()).await;
}

/// Everything at once.
///
/// # Errors
/// If there is nothing in it.
#[tc_span(
    "Async/Everything",
    kind = server,
    attrs(keys::artifact = &id, keys::bytes = first),
    result(keys::bytes = |bytes| bytes.len()),
    links(Context::current()),
    share(keys::tenant = "gold"),
    no_message
)]
pub async fn everything(id: String, (first, _): (u8, u8), _: u8) -> Result<Vec<u8>, StoreError> {
    ready(first).await;
    if id.is_empty() { Err(StoreError::Gone) } else { Ok(id.into_bytes()) }
}

/// Arguments that nobody needs, and one for the attribute alone.
#[tc_span("Async/Ignored", attrs(keys::artifact = id, keys::bytes = part))]
pub async fn ignored(_number: u8, _text: &str, id: &str, (part, _rest): (u8, String)) -> u8 {
    ready(1).await
}

/// Does not return.
#[tc_span("Async/Never")]
pub async fn never() -> ! {
    std::future::pending().await
}

/// Borrows.
#[tc_span("Async/Borrow")]
pub async fn borrow<'a>(first: &'a str, second: &str) -> &'a str {
    ready(second).await;
    first
}

/// A database.
#[tc_span(db(system = "postgresql", collection = table, operation = "select"))]
pub async fn database(table: &str) -> usize {
    ready(table).await.len()
}

/// A block that is boxed.
#[must_use]
#[tc_span("Future/Boxed", attrs(keys::artifact = id))]
pub fn boxed(id: &str) -> Pin<Box<dyn Future<Output = Result<usize, StoreError>> + Send + '_>> {
    let length = id.len();
    Box::pin(async move { Ok(length) })
}

/// A block that is opaque.
#[tc_span("Future/Opaque")]
pub fn opaque(x: u8) -> impl Future<Output = Result<u8, StoreError>> {
    async move { Ok(x) }
}

/// A future of another function.
#[tc_span("Future/Called", future)]
pub fn called() -> impl Future<Output = u8> {
    ready(1)
}

/// A boxed future of another function.
#[must_use]
#[tc_span("Future/Rewrapped", future)]
pub fn rewrapped() -> BoxFuture<'static, u8> {
    Box::pin(ready(1))
}

/// Only the call.
#[tc_span("Future/Construct", construct)]
pub fn construct() -> impl Future<Output = u8> {
    ready(1)
}

/// A stream of a macro.
#[tc_span("Stream/Macro")]
pub fn numbers(n: u8) -> impl Stream<Item = u8> {
    async_stream::stream! {
        for i in 0..n {
            yield i;
        }
    }
}

/// A stream of another function.
#[tc_span("Stream/Called", stream)]
pub fn called_stream() -> impl Stream<Item = Result<u8, StoreError>> {
    stream::iter([Ok(1), Err(StoreError::Gone)])
}

/// A boxed stream.
#[must_use]
#[tc_span("Stream/Boxed", stream)]
pub fn boxed_stream(v: &[u8]) -> BoxStream<'_, u8> {
    stream::iter(v.iter().copied()).boxed()
}

/// An async function that makes a stream.
#[tc_span("Stream/Async", stream)]
pub async fn async_stream(n: u8) -> impl Stream<Item = u8> {
    stream::iter(0..ready(n).await)
}

/// A block in a scope, and one in the current span.
pub async fn in_scopes() {
    ready(()).in_span(tc_scope!("Scope/Future")).await;
    unit().in_current_span().await;
}
