use tracecast::tc_span;

#[tc_span("StoreDaemon/Load")]
#[track_caller]
fn load() -> Result<(), String> {
    Ok(())
}

fn main() {
    let _ = load();
}
