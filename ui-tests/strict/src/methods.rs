//! Methods, `impl` blocks and traits.

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use tracecast::tc_span;

use crate::declarations::{StoreError, keys};

/// Has methods.
#[derive(Clone, Debug, Default)]
pub struct Store {
    name: String,
}

#[tc_span(component = "Store", methods = pub)]
impl Store {
    /// Named by the block.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned() }
    }

    /// Borrows.
    #[must_use]
    pub const fn constant(&self) -> &String {
        &self.name
    }

    /// Opts in to more.
    #[tc_span(attrs(keys::artifact = &self.name))]
    pub async fn load(&self) -> usize {
        ready(self.name.len()).await
    }

    /// Consumes.
    pub async fn take(self) -> String {
        ready(()).await;
        self.name
    }

    /// Consumes a box.
    #[must_use]
    pub fn take_box(self: Box<Self>) -> String {
        self.name
    }

    /// Shares.
    pub async fn shared(self: Arc<Self>) -> usize {
        ready(self.name.len()).await
    }

    /// Stays in place.
    #[must_use]
    pub fn pinned(mut self: Pin<&mut Self>) -> usize {
        self.name.push('!');
        self.name.len()
    }
}

/// Loads.
pub trait Loads {
    /// Loads.
    fn load(&self, id: &str) -> impl Future<Output = Result<usize, StoreError>> + Send;

    /// With a default.
    #[tc_span("Loads/Default")]
    fn default_method(&self) -> u8 {
        1
    }
}

#[tc_span(component = "Loads")]
impl Loads for Store {
    #[tc_span(attrs(keys::artifact = id))]
    async fn load(&self, id: &str) -> Result<usize, StoreError> {
        Ok(ready(self.name.len()).await + id.len())
    }
}

/// Loads through a box.
#[async_trait]
pub trait LoadsBoxed<T: Send + Sync + 'static> {
    /// Loads.
    async fn load_boxed(&self, t: T, id: &str) -> Result<T, StoreError>;

    /// With a default.
    #[tc_span("LoadsBoxed/Default")]
    async fn default_boxed(&self, t: T) -> T
    where
        T: 'async_trait,
    {
        t
    }
}

#[async_trait]
#[tc_span(component = "Above")]
impl<T> LoadsBoxed<T> for Store
where
    T: Send + Sync + 'static,
{
    #[tc_span(attrs(keys::artifact = id))]
    async fn load_boxed(&self, t: T, id: &str) -> Result<T, StoreError> {
        if id.is_empty() { Err(StoreError::Gone) } else { Ok(t) }
    }
}

/// Loads nothing.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

#[tc_span(component = "Below", methods = pub)]
#[async_trait]
impl LoadsBoxed<u8> for Nothing {
    async fn load_boxed(&self, _t: u8, _id: &str) -> Result<u8, StoreError> {
        ready(()).await;
        Err(StoreError::Gone)
    }
}

macro_rules! made {
    ($(#[$meta:meta])* $vis:vis $name:ident($x:ident: $ty:ty) $body:block, $span:literal, $key:path) => {
        $(#[$meta])*
        #[tc_span($span, attrs($key = 1_u8))]
        $vis fn $name($x: $ty) -> $ty $body
    };
}

made!(
    /// Made by a macro.
    #[must_use]
    pub made(x: u64) { x + 3 }, "Made/Sync", keys::bytes
);
