use tracecast::tc_scope;

async fn ingest() {
    let _scope = tc_scope!("StoreEngine/Ingest");
    std::future::ready(()).await;
}

fn spawn(_: impl Future<Output = ()> + Send) {}

fn main() {
    spawn(ingest());
}
