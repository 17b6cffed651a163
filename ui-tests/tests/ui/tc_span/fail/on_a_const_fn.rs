use tracecast::tc_span;

#[tc_span("StoreDaemon/Limit")]
const fn limit() -> u64 {
    4
}

const LIMIT: u64 = limit();

fn main() {
    println!("{LIMIT}");
}
