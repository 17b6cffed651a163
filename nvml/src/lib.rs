//! GPU gauges that survive a sick driver, and host gauges that are right in a container.
//!
//! [`start`] begins to look after the GPUs of the machine. It never fails: where there is no library, no driver or no
//! permission, `tc_nvml_available` is 0, one line is logged, and it looks again now and then.
//!
//! ```
//! let monitor = tracecast_nvml::start(tracecast_nvml::Config::default());
//! // .. the program runs ..
//! monitor.shutdown();
//! ```
//!
//! The driver is called on threads of ours only, one for each GPU, so that a call which hangs holds up nothing but the
//! values of its own GPU: those become a gap, `tc_gpu_up` becomes 0, and everything else goes on. What is not known is
//! never a 0 and never the last value for ever.
//!
//! What has a name in OpenTelemetry's semantic conventions can be shown under that instead, as `hw.gpu.utilization`, with
//! its unit and attributes: [`Config::with_names`]. Only one of the two is emitted. The activity of parts of a GPU, some details
//! and groups of metrics of the host are measured if [`Config`] says so.
//!
//! [`Monitor::gpus`] has the newest sample of each GPU for the program itself, and [`Config::with_event_handler`] calls it
//! when one reports an error, is lost, hangs or recovers.
//!
//! An XID, which is an error that a GPU reports, is counted and logged; a span that holds [`on_device`] has an event for
//! it.
//!
//! The machine (`tc_system_*`), this process (`tc_process_*`) and its container (`tc_container_*`) are measured on one
//! more thread, from `/proc` and the files of cgroups; on systems without those they are absent.
//!
//! Metrics are read as all others of the program are. Log lines go through `log`, from the target `tracecast_nvml`.
//!
//! # Features
//!
//! - `kubernetes`: which pod and container each GPU and MIG instance is allocated to, from the kubelet of the node.

#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod config;
mod described;
mod event;
mod gpu;
mod held;
mod host;
mod host_group;
mod monitor;
mod names;
#[cfg(all(feature = "kubernetes", unix))]
mod pods;
mod stop;
mod total;

pub use crate::config::Config;
pub use crate::event::{GpuEvent, GpuEventKind};
pub use crate::gpu::device::{DeviceId, OnDevice, on_device};
pub use crate::gpu::view::{Gpu, GpuState};
#[cfg(feature = "__internals")]
#[doc(hidden)]
pub use crate::host::bench as __bench;
pub use crate::host_group::HostGroup;
pub use crate::monitor::{Monitor, start};
pub use crate::names::Names;
