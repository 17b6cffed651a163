//! Orders in a table, with a cache in front of it: every access has a span of the database form.
//!
//! `cargo run -p tracecast-examples --example databases` keeps them in SQLite only; with an address appended (`--
//! redis://127.0.0.1:6379`), orders that were found are cached in Redis.

mod cache;
mod orders;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::time::Duration;

use tracecast::prelude::*;

use cache::Cache;
use orders::Orders;

type Failure = Box<dyn Error + Send + Sync>;

/// The service: what requests ask for.
struct Shop {
    orders: Orders,
    cache: Option<Cache>,
}

// ANCHOR: service
impl Shop {
    /// Returns the item of an order, from the cache or from the table.
    #[tc_span("Shop/FindOrder")]
    async fn find(&self, id: i64) -> Result<Option<String>, Failure> {
        if let Some(cache) = &self.cache
            && let Some(item) = cache.get(id).await?
        {
            return Ok(Some(item));
        }
        let found = self.orders.find(id).await?;
        if let (Some(cache), Some(item)) = (&self.cache, &found) {
            cache.put(id, item).await?;
        }
        Ok(found)
    }
}
// ANCHOR_END: service

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let telemetry = tracecast::init();
    let cache = match std::env::args().nth(1) {
        Some(url) => Some(Cache::open(&url).await?),
        None => None,
    };
    let shop = Shop { orders: Orders::open().await?, cache };
    shop.orders.insert(7, "GPU").await?;
    for _ in 0..2 {
        println!("order 7: {:?}", shop.find(7).await?);
    }
    println!("removed {} order", shop.orders.clear("orders").await?);
    println!("{}", telemetry.shutdown(Duration::from_secs(5)));
    Ok(())
}
