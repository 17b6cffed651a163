//! A few shapes of functions, each with a twin without the attribute. Telemetry is compiled out: no difference is left.

#![deny(warnings, clippy::all, clippy::pedantic)]
#![forbid(unsafe_code)]

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use async_trait::async_trait;
use futures::stream::{self, Stream};
use tracecast::prelude::*;
use tracecast::{Context, keys};

pub mod metrics;

/// How often an expression of an attribute was evaluated.
pub static EVALUATED: AtomicU32 = AtomicU32::new(0);

/// Counts, and gives `value`.
pub fn evaluated<T>(value: T) -> T {
    EVALUATED.fetch_add(1, Relaxed);
    value
}

/// Every option whose expression could be evaluated.
///
/// # Errors
/// If there is nothing in it.
#[tc_span(
    "Off/Options",
    attrs(keys::tensor::artifact = evaluated(id), "tc.test.id" = evaluated(id), "tc.test.list": [str] = evaluated([id])),
    share(keys::tensor::replica = evaluated(id)),
    parent = evaluated(Context::current()),
    links(evaluated(Context::current())),
    result(keys::size_bytes = |length| evaluated(*length))
)]
pub fn options(id: &str) -> Result<usize, String> {
    if id.is_empty() { Err("empty".to_owned()) } else { Ok(id.len()) }
}

/// A parameter for the attribute alone.
#[tc_span("Off/ForTheAttribute", attrs(keys::tensor::artifact = evaluated(id)), busy)]
pub async fn for_the_attribute(id: &str) {
    ready(()).await;
}

/// A database.
#[tc_span(db(system = "sqlite", collection = evaluated(table), operation = "select"))]
pub fn database(table: &str) {}

/// Without the attribute.
///
/// # Errors
/// None.
pub async fn plain_large(bytes: [u8; 1024]) -> Result<u8, String> {
    ready(()).await;
    Ok(bytes[0])
}

/// With it.
///
/// # Errors
/// None.
#[tc_span("Off/Large", attrs(keys::size_bytes = evaluated(bytes.len())))]
pub async fn large(bytes: [u8; 1024]) -> Result<u8, String> {
    ready(()).await;
    Ok(bytes[0])
}

/// Without the attribute.
pub fn plain_opaque(x: u8) -> impl Future<Output = u8> {
    let y = x + 1;
    async move { y }
}

/// With it.
#[tc_span("Off/Opaque")]
pub fn opaque(x: u8) -> impl Future<Output = u8> {
    let y = x + 1;
    async move { y }
}

/// A box.
#[must_use]
#[tc_span("Off/Boxed", attrs(keys::size_bytes = evaluated(x)))]
pub fn boxed(x: u8) -> Pin<Box<dyn Future<Output = u8> + Send>> {
    Box::pin(async move { x })
}

/// Without the attribute.
pub fn plain_stream(n: u8) -> impl Stream<Item = u8> {
    stream::iter(0..n)
}

/// With it.
#[tc_span("Off/Stream", stream)]
pub fn numbers(n: u8) -> impl Stream<Item = u8> {
    stream::iter(0..n)
}

/// A scope.
#[must_use]
pub fn scope(x: u8) -> u8 {
    let _scope = tc_scope!("Off/Scope", attrs(keys::size_bytes = evaluated(x)));
    x
}

/// Has methods.
#[derive(Clone, Copy, Debug)]
pub struct Store;

#[tc_span(component = "Off", methods = pub)]
impl Store {
    /// A method.
    #[must_use]
    pub fn method(self) -> u8 {
        1
    }

    /// A constant function may have no span, and needs none.
    #[must_use]
    pub const fn constant() -> u8 {
        2
    }
}

/// Loads.
#[async_trait]
pub trait Loads {
    /// Loads.
    async fn load(&self, id: &str) -> usize;
}

#[tc_span(component = "Off")]
#[async_trait]
impl Loads for Store {
    #[tc_span(attrs(keys::tensor::artifact = evaluated(id)))]
    async fn load(&self, id: &str) -> usize {
        ready(id).await.len()
    }
}
