use std::future::{Ready, ready};

use tracecast::tc_metric;

type Size = Ready<Result<u64, std::io::Error>>;
type LoadResult = Size;

#[tc_metric(calls = "tc_loads_total")]
fn load() -> Size {
    ready(Ok(4))
}

#[tc_metric(calls = "tc_results_total")]
fn load_result() -> LoadResult {
    ready(Ok(4))
}

fn main() {
    drop((load(), load_result()));
}
