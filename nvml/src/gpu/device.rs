//! Work on a GPU, in a span that is told of the GPU's errors.

use std::fmt;

use tracecast::{current, keys, tc_keys};

use crate::gpu::recent;

tc_keys! {
    /// The number of an XID.
    id xid_number: u64 = "tc.gpu.xid";
    /// When the XID came, in seconds since 1970.
    measure xid_time: f64 = "tc.gpu.xid.timestamp_seconds";
}

/// Says that the current span works on a GPU, which is named by its index in NVML, until the guard is dropped.
///
/// The span gets the attribute `tc.device.id`. If the GPU reports XIDs meanwhile, the span that is current when the guard is
/// dropped gets an event `gpu.xid` for each, with its number and time: the newest eight. So hold the guard in the span's
/// own scope:
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
/// It costs two loads beside the attribute, and nothing waits. XIDs are seen while a [`Monitor`](crate::Monitor) runs;
/// one that the driver reports after the guard was dropped is counted and logged, and is on no span.
pub fn on_device(index: u32) -> OnDevice {
    current().set(keys::device, index);
    OnDevice { gpu: index, seen: recent::count(index) }
}

/// Work goes on on a GPU for as long as this lives; see [`on_device`].
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
    gpu: u32,
    /// The XIDs that had come before.
    seen: u64,
}

impl Drop for OnDevice {
    fn drop(&mut self) {
        if recent::count(self.gpu) != self.seen {
            tell(self.gpu, self.seen);
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
