fn main() {
    let scope = tracecast::tc_scope!("StoreEngine/Ingest");
    std::thread::spawn(move || drop(scope));
}
