use tracecast::{keys, tc_metric};

#[tc_metric(calls = "tc_loads_total", labels(keys::tensor::source = keys::tensor::SourceType::Disk, keys::device = name.clone()))]
async fn load(name: String) -> usize {
    name.len()
}

fn main() {
    drop(load(String::from("3")));
}
