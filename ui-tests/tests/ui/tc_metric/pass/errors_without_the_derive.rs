//! The type of an error that does not derive `TcError` is no label, and no mistake.

use std::{fmt, io};

use tracecast::tc_metric;

#[derive(Debug)]
struct Broken;

#[tc_metric(calls = "tc_loads_total", errors = "tc_load_errors_total", error_type = Broken)]
fn load() -> Result<u32, Box<Broken>> {
    Err(Box::new(Broken))
}

#[tc_metric(calls = "tc_sizes_total")]
fn size() -> Result<u32, Broken> {
    Err(Broken)
}

#[tc_metric(calls = "tc_reads_total")]
async fn read() -> io::Result<u32> {
    Ok(4)
}

#[tc_metric(calls = "tc_writes_total")]
fn write() -> fmt::Result {
    Ok(())
}

#[tc_metric(calls = "tc_calls_total")]
fn call<E>(error: E) -> Result<u32, E> {
    Err(error)
}

struct Store<E>(E);

impl<E> Store<E> {
    #[tc_metric(calls = "tc_opens_total")]
    fn open(self) -> Result<u32, E> {
        Err(self.0)
    }
}

pub(crate) fn main() {
    assert!(load().is_err() && size().is_err() && call(4).is_err() && Store(4).open().is_err());
    assert!(write().is_ok());
    drop(read());
}
