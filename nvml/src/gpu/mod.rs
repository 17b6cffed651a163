//! GPUs by NVML: threads that ask the driver, and the gauges that they fill.
//!
//! The driver is called on threads of this room and nowhere else. `finder` looks for GPUs, `sampler` asks one of them, `xid`
//! waits for its events; a `slot` is a GPU's place among the metrics. `raw` has the calls that the wrapper lacks, and all
//! unsafe code. `monitor` starts it; `host` is independent of it.

pub(crate) mod asker;
pub(crate) mod availability;
pub(crate) mod conventional;
pub(crate) mod device;
pub(crate) mod driver;
pub(crate) mod fault;
pub(crate) mod filter;
pub(crate) mod finder;
pub(crate) mod metrics;
pub(crate) mod power;
pub(crate) mod publish;
pub(crate) mod raw;
pub(crate) mod recent;
pub(crate) mod sample;
pub(crate) mod sampler;
pub(crate) mod shared;
pub(crate) mod slot;
pub(crate) mod view;
pub(crate) mod xid;
