mod keys {
    tracecast::tc_keys! {
        pub lable hit: bool = "tc.cache.hit";
    }
}

#[tracecast::tc_span("StoreDaemon/Load", attrs(keys::hit = true))]
fn load() {}

fn main() {
    load();
}
