//! Two scopes in one block, one inside an expression, and a user's own names like ours.

use tracecast::{keys, tc_scope};

pub(crate) fn main() {
    let __tc_start = 4_u64;
    let _scope = tc_scope!("StoreEngine/Ingest", attrs(keys::size_bytes = __tc_start));
    let _scope = tc_scope!("StoreEngine/Copy", kind = client, parent = None::<tracecast::Context>,);
    drop(tc_scope!("StoreEngine/Flush", links(tracecast::Context::current())));
}
