//! Keywords of an edition as names of functions, arguments and keys.

use tracecast::tc_span;

mod keys {
    tracecast::tc_keys! {
        pub id r#type: str = "tc.artifact.type";
    }
}

#[tc_span("StoreDaemon/Match", attrs(keys::r#type = r#type))]
fn r#match(r#type: &str) -> usize {
    r#type.len()
}

struct Store;

#[tc_span(component = "StoreDaemon")]
impl Store {
    #[tc_span]
    async fn r#gen(&self, r#async: u64) -> u64 {
        r#async
    }
}

pub(crate) fn main() {
    assert_eq!(r#match("llama"), 5);
    drop(Store.r#gen(4));
}
