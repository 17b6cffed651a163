//! GPU metrics that survive driver failures, and host metrics that are correct in a container.
//!
//! [`start`] starts to monitor the GPUs of the machine. This function never fails: without a library, driver or
//! permission `tc_nvml_available` is 0, one line is logged, and the monitor retries periodically.
//!
//! ```
//! let monitor = tracecast_nvml::start(tracecast_nvml::Config::default());
//! // .. the program runs ..
//! monitor.shutdown();
//! ```
//!
//! Only the monitor's own threads call the driver, one sampling thread per GPU. A call that hangs therefore affects one GPU: its
//! values become a gap and its `tc_gpu_up` becomes 0, while all other metrics continue. An unknown value is absent; it is never
//! shown as 0, and an old value disappears after three intervals.
//!
//! Metrics that OpenTelemetry's semantic conventions define, such as `hw.gpu.utilization`, can use the conventional
//! name, unit and attributes instead of Tracecast's: [`Config::with_names`]. Each metric is emitted under one name
//! only. [`Config`] also enables optional metrics: the activity of parts of a GPU, some details, and groups of host
//! metrics.
//!
//! [`Monitor::gpus`] returns the newest sample of each GPU to the program, and [`Config::with_event_handler`] calls a function
//! when a GPU reports an error, is lost, hangs or recovers.
//!
//! XIDs, the errors that a GPU reports, are counted and logged. A span that holds the guard of [`on_device`] gets an
//! event for each of the newest eight.
//!
//! One more thread measures the machine (`tc_system_*`), this process (`tc_process_*`) and its container (`tc_container_*`) from
//! `/proc` and cgroup files. On systems without these files the metrics are absent.
//!
//! The metrics are exported together with the program's other metrics. Log lines go through `log` with the target
//! `tracecast_nvml`.
//!
//! # Features
//!
//! - `kubernetes`: shows which pod and container each GPU and MIG instance is allocated to, from the node's kubelet.

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
