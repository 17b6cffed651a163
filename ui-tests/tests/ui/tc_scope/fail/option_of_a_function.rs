fn main() {
    let _scope = tracecast::tc_scope!("StoreEngine/Ingest", no_err);
}
