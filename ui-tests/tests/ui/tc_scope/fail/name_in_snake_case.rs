fn main() {
    let _scope = tracecast::tc_scope!("store_engine/p2p_ingest");
}
