use tracecast::{TcError, keys, tc_metric};

#[derive(Debug, TcError)]
enum StoreError {
    Gone,
    Timeout,
}

#[tc_metric(calls = "tc_loads_total",
            labels(keys::tensor::source = keys::tensor::SourceType::Disk, keys::device = device), budget = 400)]
fn load(device: u32) -> Result<u32, StoreError> {
    match device {
        0 => Err(StoreError::Gone),
        1 => Err(StoreError::Timeout),
        _ => Ok(device),
    }
}

fn main() {
    drop(load(3));
}
