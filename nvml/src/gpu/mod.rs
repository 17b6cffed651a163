//! GPUs by NVML: threads that ask the driver, and the gauges that they fill.
//!
//! The driver is called on threads of this room and nowhere else. `finder` looks for GPUs, `sampler` asks the one at an
//! index, `xid` waits for its events; a `slot` is the place of one UUID among the metrics, and `registry` connects the two.
//! `questions` has what is asked, `publish` and `counters` what is shown, `raw` the calls that the wrapper lacks and all unsafe
//! code. `monitor` starts it; `host` is independent of it.

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
