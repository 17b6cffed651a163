//! Marks a span as work on a GPU, so that it records the GPU's XIDs.

use std::fmt;

use tracecast::{current, keys, tc_keys};

use crate::gpu::{label, recent};

tc_keys! {
    /// The number of an XID.
    id xid_number: u64 = "tc.gpu.xid";
    /// When the XID came, in seconds since 1970.
    measure xid_time: f64 = "tc.gpu.xid.timestamp_seconds";
}

/// Marks the current span as work on a GPU until the guard is dropped. `device` is the GPU's index in NVML, its UUID,
/// or the start of its UUID.
///
/// The span gets the attribute `tc.device.id`, with the value of the label `gpu` of the GPU's metrics; it gets none if
/// the GPU is unknown, for example a UUID that no monitor has seen. If the GPU reports XIDs while the guard lives, the
/// span that is current at its drop gets an event `gpu.xid` for each of the newest eight, with number and time. So hold
/// the guard in the span's own scope:
///
/// ```
/// #[tracecast::tc_span("Worker/RunKernel")]
/// fn run_kernel(index: u32) {
///     let _on_device = tracecast_nvml::on_device(index);
///     // .. the kernel runs ..
/// }
/// # run_kernel(0);
/// ```
///
/// Beside setting the attribute, the guard costs a few atomic loads and never blocks. XIDs are recorded while a
/// [`Monitor`](crate::Monitor) runs. An XID that the driver reports after the drop of the guard is counted and logged, but is on
/// no span.
pub fn on_device(device: impl DeviceId) -> OnDevice {
    let gpu = device.label();
    if let Some(gpu) = gpu {
        current().set(keys::device, gpu);
    }
    OnDevice { gpu, seen: gpu.map_or(0, recent::count) }
}

/// The index of a GPU in NVML, its UUID, or the start of its UUID; for [`on_device`].
///
/// ```
/// use tracecast_nvml::on_device;
///
/// drop((on_device(0), on_device("GPU-5a3c")));
/// ```
pub trait DeviceId: Named {}

impl DeviceId for u32 {}
impl DeviceId for &str {}

/// Identifies a GPU. The trait is not reachable from other crates, so none can implement [`DeviceId`].
pub trait Named {
    /// Returns the label of the GPU, if it is known.
    fn label(self) -> Option<u32>;
}

impl Named for u32 {
    fn label(self) -> Option<u32> {
        label::of_index(self)
    }
}

impl Named for &str {
    fn label(self) -> Option<u32> {
        label::of_uuid(self)
    }
}

/// The guard of [`on_device`]: marks work on a GPU until it is dropped.
///
/// ```
/// #[tracecast::tc_span("Worker/RunKernel")]
/// fn run_kernel() {
///     let _on_device = tracecast_nvml::on_device(0);
/// }
///
/// let captured = tracecast::testing::capture(run_kernel);
/// captured.assert_tree("Worker/RunKernel tc.device.id=0");
/// ```
#[must_use = "the span is told of XIDs that come while this lives; bind it to a name in the span's scope"]
pub struct OnDevice {
    gpu: Option<u32>,
    /// The GPU's number of XIDs when the guard was created.
    seen: u64,
}

impl Drop for OnDevice {
    fn drop(&mut self) {
        if let Some(gpu) = self.gpu.filter(|gpu| recent::count(*gpu) != self.seen) {
            tell(gpu, self.seen);
        }
    }
}

#[cold]
fn tell(gpu: u32, seen: u64) {
    for xid in recent::since(gpu, seen) {
        current().event_with("gpu.xid", |event| {
            event.set(keys::device, gpu);
            event.set(xid_number, xid.number);
            event.set(xid_time, xid.time.as_secs_f64());
        });
    }
}

impl fmt::Debug for OnDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnDevice").field("gpu", &self.gpu).finish_non_exhaustive()
    }
}
