use tracecast::tc_span;

#[tc_span("store_daemon/load-replica")]
fn load() {}

fn main() {
    load();
}
