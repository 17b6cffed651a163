//! As many series as the budget allows are not too many.

use tracecast::keys::{device, tensor::{SourceType, source}};
use tracecast::{TcError, tc_metric};

#[derive(Debug, TcError)]
enum StoreError {
    Gone,
    Timeout,
}

/// 2 sources, 17 devices, 4 outcomes, 2 errors and none.
#[tc_metric(calls = "tc_loads_total", labels(source = SourceType::Disk, device = at), budget = 408)]
fn load(at: u32) -> Result<u32, StoreError> {
    match at {
        0 => Err(StoreError::Gone),
        1 => Err(StoreError::Timeout),
        _ => Ok(at),
    }
}

/// 17 devices and none, 4 buckets with sum and count.
#[tc_metric(duration = "tc_fetch_seconds", buckets = [0.1, 1, 10], labels(device = |size| *size), budget = 108)]
fn fetch() -> u32 {
    4
}

/// The other series of the histogram are those of its buckets, which are not known before.
#[tc_metric(duration = "tc_store_seconds", exponential, labels(device = 4_u32), budget = 17)]
fn store() {}

pub(crate) fn main() {
    assert!(load(0).is_err() && load(1).is_err() && load(2).is_ok());
    assert_eq!(fetch(), 4);
    store();
}
