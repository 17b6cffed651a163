//! GPU monitoring with NVML: the threads that query the driver, and the metrics that they set.
//!
//! Only the threads of this module call the driver. `finder` searches for GPUs, `sampler` queries the GPU at one index, and `xid`
//! waits for its events. A `slot` holds the state and metrics of one UUID; `registry` maps indices to slots. `questions` lists
//! the queries, `publish` and `counters` set the metrics, and `raw` has the calls that the wrapper lacks and all unsafe code.
//! `monitor` starts the threads; `host` is independent of this module.

pub(crate) mod asker;
pub(crate) mod availability;
pub(crate) mod conventional;
pub(crate) mod counters;
pub(crate) mod device;
pub(crate) mod driver;
pub(crate) mod fault;
pub(crate) mod filter;
pub(crate) mod finder;
pub(crate) mod identity;
pub(crate) mod label;
pub(crate) mod labels;
pub(crate) mod metrics;
pub(crate) mod power;
pub(crate) mod publish;
pub(crate) mod questions;
pub(crate) mod raw;
pub(crate) mod recent;
pub(crate) mod registry;
pub(crate) mod sample;
pub(crate) mod sampler;
pub(crate) mod shared;
pub(crate) mod slot;
#[cfg(test)]
mod tests;
pub(crate) mod view;
pub(crate) mod window;
pub(crate) mod xid;
pub(crate) mod xid_log;
pub(crate) mod xids;
