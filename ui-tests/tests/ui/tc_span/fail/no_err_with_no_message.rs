use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", no_err, no_message)]
fn load() -> Result<(), String> {
    Ok(())
}

fn main() {
    let _ = load();
}
