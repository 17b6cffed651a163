use tracecast::{keys, tc_span};

#[tc_span("StoreDaemon/Load", result(keys::size_bytes = |replica| replica.clone()))]
fn load() -> Result<String, std::io::Error> {
    Ok(String::new())
}

fn main() {
    let _ = load();
}
