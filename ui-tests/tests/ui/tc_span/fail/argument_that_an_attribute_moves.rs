//! A variable that an attribute takes, and the body too: the error points at the attribute, and in an `async fn` says where to borrow.
use tracecast::prelude::*;

tracecast::tc_keys! {
    /// A name.
    pub id name: str = "name";
}

#[tc_span("Moves/Sync", attrs(name = id))]
fn sync(id: String) -> String {
    id
}

#[tc_span("Moves/Async", attrs(name = id))]
async fn asynchronous(id: String) -> String {
    id
}

struct Store;

impl Store {
    #[tc_span("Moves/Method", attrs(name = id))]
    fn method(&self, id: String) -> String {
        id
    }
}

fn main() {}
