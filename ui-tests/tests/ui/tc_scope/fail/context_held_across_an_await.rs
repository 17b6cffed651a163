use tracecast::Context;

async fn ingest(context: Context) {
    let _attached = context.attach();
    std::future::ready(()).await;
}

fn spawn(_: impl Future<Output = ()> + Send) {}

fn main() {
    spawn(ingest(Context::current()));
}
