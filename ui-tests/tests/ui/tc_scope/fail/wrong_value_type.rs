use tracecast::keys;

fn main() {
    let _scope = tracecast::tc_scope!("StoreEngine/Ingest", attrs(keys::size_bytes = "many"));
}
