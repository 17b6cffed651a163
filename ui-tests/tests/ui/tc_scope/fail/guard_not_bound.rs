#![deny(unused_must_use)]

fn main() {
    tracecast::tc_scope!("StoreEngine/Ingest");
}
