use tracecast::tc_span;

#[tc_span(db(system = "postgresql", collection = shard, operation = "select"))]
fn load(shard: u64) -> u64 {
    shard
}

fn main() {
    load(4);
}
