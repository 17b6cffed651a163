//! The spans of each database, without a network for SQLite and with a server of its own for Redis.

use std::io::{BufRead, BufReader, ErrorKind};
use std::process::{Child, Command, Stdio};

use tracecast::testing::capture_async;
use tracecast_receiver::free_port;

use super::*;

const LLAMA: &str = "llama's secret order";

// ANCHOR: test
#[tokio::test]
async fn an_order_is_found_in_the_table() {
    let shop = Shop { orders: Orders::open().await.unwrap(), cache: None };
    shop.orders.insert(7, "GPU").await.unwrap();
    let captured = capture_async(|| shop.find(7)).await;
    assert_eq!(captured.value.as_ref().unwrap().as_deref(), Some("GPU"));
    captured.assert_tree(r#"
        Shop/FindOrder
          orders.select [client] db.system.name=sqlite db.collection.name=orders db.operation.name=select db.query.text="select item from orders where id = ?"
    "#);
}
// ANCHOR_END: test

#[tokio::test]
async fn a_query_that_fails_is_an_error_without_its_text() {
    let orders = Orders::open().await.unwrap();
    let captured = capture_async(async || {
        orders.insert(7, LLAMA).await.unwrap();
        orders.insert(7, LLAMA).await.unwrap_err();
        orders.clear("nowhere").await.unwrap_err();
        assert_eq!(orders.clear("orders").await.unwrap(), 1);
    })
    .await;
    captured.assert_tree(include_str!("failed.txt"));
    let shown = format!("{captured:?}");
    assert!(!shown.contains(LLAMA) && !shown.contains("insert into"), "{shown}");
}

/// A Redis server of the test's own, stopped with the test.
struct Redis {
    server: Child,
    url: String,
}

impl Redis {
    /// Returns `None` if Redis is not installed. With `CI=true` it must be.
    fn start() -> Option<Self> {
        let port = free_port();
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", "", "--appendonly", "no"]);
        let mut server = match command.stdout(Stdio::piped()).spawn() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                assert!(std::env::var("CI").as_deref() != Ok("true"), "no redis-server");
                eprintln!("skipped: no redis-server");
                return None;
            }
            server => server.unwrap(),
        };
        let lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let redis = Redis { server, url: format!("redis://127.0.0.1:{port}") };
        let ready = lines.map_while(Result::ok).any(|line| line.contains("Ready to accept connections"));
        assert!(ready, "redis-server did not start on port {port}");
        Some(redis)
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[tokio::test]
async fn an_order_is_cached() {
    let Some(redis) = Redis::start() else { return };
    let shop = Shop { orders: Orders::open().await.unwrap(), cache: Some(Cache::open(&redis.url).await.unwrap()) };
    shop.orders.insert(7, LLAMA).await.unwrap();
    let captured = capture_async(async || {
        for _ in 0..2 {
            assert_eq!(shop.find(7).await.unwrap().as_deref(), Some(LLAMA));
        }
    })
    .await;
    captured.assert_tree(include_str!("cached.txt"));
}

#[tokio::test]
async fn a_command_that_fails_is_an_error() {
    let Some(redis) = Redis::start() else { return };
    let cache = Cache::open(&redis.url).await.unwrap();
    let captured = capture_async(async || {
        cache.put(7, LLAMA).await.unwrap();
        cache.count(7).await.unwrap_err();
        drop(redis);
        // The server has been stopped.
        cache.get(7).await.unwrap_err();
    })
    .await;
    captured.assert_outline(
        "
        order.SETEX [client]
        order.INCR [client] error
        order.GET [client] error
    ",
    );
    let message = "error.message=\"ResponseError: value is not an integer or out of range\"";
    assert!(captured.tree().contains(message) && !format!("{captured:?}").contains(LLAMA), "{captured}");
}
