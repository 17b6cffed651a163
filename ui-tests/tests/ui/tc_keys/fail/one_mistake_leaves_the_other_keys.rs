mod keys {
    tracecast::tc_keys! {
        pub label tenant: String = "tc.tenant.class";
        pub id artifact: str = "tc.artifact.id";
    }
}

#[tracecast::tc_span("StoreDaemon/Load", attrs(keys::tenant = tenant, keys::artifact = "llama"))]
fn load(tenant: &str) -> usize {
    tenant.len()
}

fn main() {
    load("gold");
}
