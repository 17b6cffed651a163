//! Functions that are not async, and every option.

use std::any::Any;

use tracecast::{Context, tc_scope, tc_span};

use crate::declarations::{Refused, Source, StoreError, Tier, keys};

/// Nothing but a span.
#[tc_span("Function/Unit")]
pub fn unit() {}

/// Attributes of every type.
#[must_use]
#[tc_span(
    "Function/Attrs",
    kind = client,
    attrs(
        keys::artifact = &id,
        keys::source = source,
        keys::tier = Tier::Economy,
        keys::order = std::cmp::Ordering::Less,
        keys::hit = true,
        keys::maybe = None::<bool>,
        keys::device = 3_u32,
        keys::tenant = "gold",
        keys::bytes = id.len(),
        keys::change = -1_i32,
        keys::ratio = 0.5_f32,
    ),
)]
pub fn attributes(id: String, source: Source) -> (String, Source) {
    (id, source)
}

/// Attributes that are named in place.
#[must_use]
#[tc_span("Function/Named", attrs("tc.test.id" = &id, "tc.test.length": u64 = id.len(), "tc.test.list" = ["a", "b"]), result("tc.test.half" = |length| length / 2))]
pub fn named(id: String) -> usize {
    let _scope = tc_scope!("Function/NamedScope", attrs("tc.test.flag" = true));
    id.into_bytes().len()
}

/// Something of the result.
///
/// # Errors
/// If it is told to.
#[tc_span("Function/Result", result(keys::bytes = |bytes| bytes.len(), keys::artifact = |_| "x"))]
pub fn result(ok: bool) -> Result<Vec<u8>, StoreError> {
    if ok { Ok(vec![1, 2]) } else { Err(StoreError::Timeout(3)) }
}

/// Says less of an error.
///
/// # Errors
/// Always.
#[tc_span("Function/NoMessage", no_message)]
pub fn no_message() -> Result<u8, StoreError> {
    Err(StoreError::NotFound { id: "a".to_owned() })
}

/// Says nothing of an error.
///
/// # Errors
/// Always.
#[tc_span("Function/NoErr", no_err)]
pub fn no_err<T: Clone + Send>(value: &T) -> Result<u8, Refused<'_, T>> {
    Err(Refused(value))
}

/// The rest of the options.
#[tc_span(
    "Function/Options",
    parent = parent,
    links(Context::current(), parent),
    share(keys::artifact = "shared"),
    needs_parent,
    heartbeat = "30s"
)]
pub fn options(parent: &Context) {}

/// Busy times.
#[tc_span("Function/Busy", busy)]
pub async fn busy() {
    std::future::ready(()).await;
}

/// A database, by name.
#[tc_span(db(system = "postgresql", collection = "users", operation = "select"))]
pub fn database() {}

/// A database, found out.
#[tc_span(db(
    system = "postgresql",
    collection = table,
    operation = "select",
    namespace = "main",
    query = format!("select * from {table}")
))]
pub fn table(table: &str) {}

/// Two types behind one.
#[must_use]
#[tc_span("Function/Dynamic")]
pub fn dynamic(text: bool) -> Box<dyn Any> {
    if text {
        return Box::new("a");
    }
    Box::new(1_u8)
}

/// A borrow.
#[tc_span("Function/Borrow")]
pub fn borrow(v: &mut Vec<u8>) -> &mut u8 {
    v.push(1);
    &mut v[0]
}

/// An opaque type.
#[tc_span("Function/Opaque")]
pub fn opaque(v: &[u8]) -> impl Iterator<Item = u8> + use<'_> {
    v.iter().map(|x| x + 1)
}

/// Patterns and generics.
#[tc_span("Function/Generic", attrs(keys::bytes = first))]
pub fn generic<T: Into<u64>, const N: usize>((first, second): (u8, T), third: &[u8; N]) -> u64 {
    second.into() + u64::from(first) + third.len() as u64
}

/// A caller that is known.
#[must_use]
#[track_caller]
#[tc_span("Function/TrackCaller")]
pub fn track_caller() -> u32 {
    std::panic::Location::caller().line()
}

/// Scopes.
pub fn scopes() {
    let _outer = tc_scope!("Scope/Outer", attrs(keys::bytes = 1_u8), kind = server);
    let _inner = tc_scope!("Scope/Inner", parent = Context::current(), links(Context::current()));
    unit();
}

/// An item at the top of the body.
#[must_use]
#[tc_span("Function/Items", attrs(keys::hit = true))]
pub fn items() -> u8 {
    const ONE: u8 = 1;
    const fn two() -> u8 {
        2
    }
    ONE + two()
}
