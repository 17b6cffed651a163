//! The table, with the crate sqlx.

use sqlx::SqlitePool;
use sqlx::sqlite::SqlitePoolOptions;
use tracecast::prelude::*;

// ANCHOR: sqlx
/// Values are bound parameters, so the query's text is the same for all orders and can be recorded.
const FIND: &str = "select item from orders where id = ?";

pub(crate) struct Orders(SqlitePool);

impl Orders {
    #[tc_span(db(system = "sqlite", collection = "orders", operation = "insert"))]
    pub(crate) async fn insert(&self, id: i64, item: &str) -> sqlx::Result<()> {
        sqlx::query("insert into orders values (?, ?)").bind(id).bind(item).execute(&self.0).await.map(drop)
    }

    #[tc_span(db(system = "sqlite", collection = "orders", operation = "select", query = FIND))]
    pub(crate) async fn find(&self, id: i64) -> sqlx::Result<Option<String>> {
        sqlx::query_scalar(FIND).bind(id).fetch_optional(&self.0).await
    }

    /// The table's name is known at run time only, and so is the span's name.
    #[tc_span(db(system = "sqlite", collection = table, operation = "delete"))]
    pub(crate) async fn clear(&self, table: &str) -> sqlx::Result<u64> {
        let query = sqlx::AssertSqlSafe(format!("delete from \"{}\"", table.replace('"', "\"\"")));
        sqlx::query(query).execute(&self.0).await.map(|done| done.rows_affected())
    }
}
// ANCHOR_END: sqlx

impl Orders {
    /// Creates an empty table in memory. An in-memory database belongs to its connection, so the pool has one.
    pub(crate) async fn open() -> sqlx::Result<Self> {
        let pool = SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await?;
        sqlx::query("create table orders (id integer primary key, item text not null)").execute(&pool).await?;
        Ok(Orders(pool))
    }
}
