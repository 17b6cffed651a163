fn main() {
    let _scope = tracecast::tc_scope!("StoreEngine/Ingest", parnet = tracecast::Context::current());
}
