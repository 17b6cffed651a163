mod keys {
    tracecast::tc_keys! {
        /// The artifact that is loaded.
        pub id artifact: str = "tc.artifact.id";
    }
}

#[tracecast::tc_span("StoreDaemon/Load", attrs(keys::artefact = "llama"))]
fn load() {}

fn main() {
    load();
}
