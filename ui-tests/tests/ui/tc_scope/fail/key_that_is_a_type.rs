fn main() {
    let _scope = tracecast::tc_scope!("StoreEngine/Ingest", attrs(String = "llama"));
}
