//! All options on functions and methods that are no futures.

#![deny(dead_code, unused_imports, unused_variables)]

use std::fmt;

use tracecast::keys::{Location, device, location, tensor::{SourceType, source}};
use tracecast::{TcError, tc_metric};

const BOUNDS: &[f64] = &[0.1, 1.0];

#[derive(Debug, PartialEq, TcError)]
enum StoreError {
    Gone,
}

#[derive(Debug, PartialEq)]
struct Replica {
    from: SourceType,
}

#[tc_metric(calls = "tc_loads_total", errors = "tc_load_errors_total", duration = "tc_load_seconds",
            in_flight = "tc_loads_active", labels(source = |replica| replica.from, location = at, device = 3_u32),
            budget = 5000, buckets = [0.1, 1, 10.0], error_type = StoreError, crate = tracecast)]
fn load(at: Location) -> Result<Replica, StoreError> {
    match at {
        Location::Gpu => Ok(Replica { from: SourceType::Disk }),
        Location::Cpu => Err(StoreError::Gone),
    }
}

#[tc_metric(duration = "tc_size_seconds", buckets = BOUNDS)]
fn size(id: &str) -> usize {
    id.len()
}

#[tc_metric(duration = "tc_text_seconds", exponential, calls = "tc_texts_total", error_type = none, no_err,)]
fn text() -> fmt::Result {
    Ok(())
}

#[tc_metric(in_flight = "tc_makes_active", construct)]
fn make() -> impl Future<Output = u32> {
    std::future::ready(4)
}

#[track_caller]
#[tc_metric(calls = "tc_places_total", labels(device = line))]
fn place(line: u32) -> u32 {
    line + std::panic::Location::caller().line()
}

struct Store {
    from: SourceType,
}

impl Store {
    #[tc_metric(calls = "tc_fetches_total", labels(source = self.from))]
    fn fetch(&mut self, from: SourceType) {
        self.from = from;
    }
}

pub(crate) fn main() {
    assert_eq!(load(Location::Gpu), Ok(Replica { from: SourceType::Disk }));
    assert_eq!(load(Location::Cpu), Err(StoreError::Gone));
    assert_eq!((size("llama"), text()), (5, Ok(())));
    assert_eq!(futures::executor::block_on(make()), 4);
    assert!(place(1) > 1);
    Store { from: SourceType::Disk }.fetch(SourceType::Remote);
}
