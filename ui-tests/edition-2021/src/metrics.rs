//! Metrics with the prefix that the manifest sets, by the new name and through the re-export.

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;

use futures::stream::{self, Stream};
use tc::{tc_metric, tc_span};

use crate::{keys, Source, Store, StoreError};

tc::tc_metrics! {
    /// Bytes that were moved.
    pub static MOVED: Counter<(keys::source,)> = "acme_moved_bytes_total";
    /// How long.
    pub static TIMES: Histogram = "acme_times_seconds" { buckets: [0.1, 1] };
}

crate::framework::telemetry::tc_metrics! {
    /// Bytes in use.
    pub static USED: Gauge<(keys::order,), u64> = "acme_used_bytes" { unit: "By" };
    /// Loads in progress.
    pub static ACTIVE: UpDownCounter = "acme_active";
}

/// Through the new name.
#[tc_metric(
    calls = "acme_renamed_total",
    errors = "acme_renamed_errors_total",
    duration = "acme_renamed_seconds",
    in_flight = "acme_renamed_active",
    labels(keys::order = id.len().cmp(&2))
)]
pub fn renamed(id: &str) -> Result<usize, StoreError> {
    if id.is_empty() {
        Err(StoreError::Gone)
    } else {
        Ok(id.len())
    }
}

/// Through the re-export, with a span that says where the crate is.
#[crate::framework::telemetry::tc_metric(
    calls = "acme_reexported_total",
    labels(keys::source = |source| *source, keys::order = 1.cmp(&2))
)]
#[crate::framework::telemetry::tc_span("Acme/Reexported", crate = crate::framework::telemetry)]
pub async fn reexported(source: Source) -> Result<Source, StoreError> {
    std::future::ready(()).await;
    match source {
        Source::Disk => Err(StoreError::Gone),
        Source::Remote => Ok(source),
    }
}

/// In edition 2021 the guard at the tail lives longer than locals do.
#[tc_metric(calls = "acme_tails_total")]
pub fn tail_temporary(m: &std::sync::Mutex<u8>) -> u8 {
    *m.lock().unwrap()
}

/// Elided lifetimes, and an opaque type that borrows nothing, in an edition where it would have to say otherwise.
#[tc_metric(calls = "acme_opaques_total")]
pub async fn opaque(a: &str, b: &u8) -> impl Display {
    a.len() + usize::from(*b)
}

/// An opaque future, whose lifetimes are those that it names.
#[tc_metric(calls = "acme_futures_total")]
pub fn future<'a>(a: &'a str, _b: &u8) -> impl Future<Output = usize> + 'a {
    async move { a.len() }
}

/// A stream.
#[tc_metric(calls = "acme_streams_total", items = "acme_items_total", stream)]
pub fn numbers(n: u8) -> impl Stream<Item = u8> {
    stream::iter(0..n)
}

/// Never comes back.
#[tc_metric(calls = "acme_nevers_total", crate = tc)]
pub async fn never() -> ! {
    panic!("on purpose")
}

/// Methods whose block says where the crate is.
#[tc_span(component = "AcmeStore", methods = pub)]
impl Store {
    /// Borrows twice.
    #[tc_metric(calls = "acme_store_loads_total")]
    pub async fn measured_load(&self, id: &str) -> usize {
        self.name.len() + id.len()
    }

    /// Returns a box.
    #[tc_span(attrs(keys::artifact = &self.name))]
    #[tc_metric(calls = "acme_store_boxed_total")]
    pub fn measured_box(&self) -> Pin<Box<dyn Future<Output = usize> + Send + '_>> {
        Box::pin(async move { self.name.len() })
    }

    #[tc_metric(calls = "acme_store_private_total")]
    fn private(&self) {}
}

/// Calls the private one.
pub fn private() {
    Store { name: String::new() }.private();
}
