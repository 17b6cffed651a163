//! The cache, with the crate redis.

use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, RedisResult};
use tracecast::prelude::*;

// ANCHOR: redis
pub(crate) struct Cache(MultiplexedConnection);

/// How long an order is cached.
const SECONDS: u64 = 60;

impl Cache {
    #[tc_span(db(system = "redis", collection = "order", operation = "GET"))]
    pub(crate) async fn get(&self, id: i64) -> RedisResult<Option<String>> {
        self.0.clone().get(key(id)).await
    }

    #[tc_span(db(system = "redis", collection = "order", operation = "SETEX"))]
    pub(crate) async fn put(&self, id: i64, item: &str) -> RedisResult<()> {
        self.0.clone().set_ex(key(id), item, SECONDS).await
    }
}

/// Each order has its own key, so the key is not part of the span's name, which must have few values.
fn key(id: i64) -> String {
    format!("order:{id}")
}
// ANCHOR_END: redis

impl Cache {
    pub(crate) async fn open(url: &str) -> RedisResult<Self> {
        redis::Client::open(url)?.get_multiplexed_async_connection().await.map(Cache)
    }

    /// A command that does not fit the stored type.
    #[cfg(test)]
    #[tc_span(db(system = "redis", collection = "order", operation = "INCR"))]
    pub(crate) async fn count(&self, id: i64) -> RedisResult<i64> {
        self.0.clone().incr(key(id), 1).await
    }
}
