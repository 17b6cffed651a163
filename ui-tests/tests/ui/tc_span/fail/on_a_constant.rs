use tracecast::tc_span;

#[tc_span("StoreDaemon/Load")]
pub const LIMIT: u64 = 4;

fn main() {
    println!("{LIMIT}");
}
