fn main() {
    let name = String::from("StoreEngine/Ingest");
    let _scope = tracecast::tc_scope!(name);
}
