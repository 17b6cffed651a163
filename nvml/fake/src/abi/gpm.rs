//! GPM functions: the activity of parts of a GPU between two samples.

use std::collections::BTreeMap;
use std::ffi::c_uint;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nvml_wrapper_sys::bindings::*;

use super::{call, put, returned, whole};
use crate::script::Script;
use crate::value::{Code, Gpu, Handle};

/// Samples by number, each with its GPU and instance; the instance is 0 for the GPU itself.
#[derive(Debug)]
struct Samples {
    next: usize,
    open: BTreeMap<usize, Option<(u32, u32)>>,
}

static SAMPLES: Mutex<Samples> = Mutex::new(Samples { next: 1, open: BTreeMap::new() });

fn lock() -> MutexGuard<'static, Samples> {
    SAMPLES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlGpmSampleAlloc(out: *mut nvmlGpmSample_t) -> nvmlReturn_t {
    whole("nvmlGpmSampleAlloc", |_| {
        let mut samples = lock();
        let number = samples.next;
        samples.next += 1;
        samples.open.insert(number, None);
        // SAFETY: callers keep NVML's contract.
        unsafe { put(out, std::ptr::without_provenance_mut(number)) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlGpmSampleFree(sample: nvmlGpmSample_t) -> nvmlReturn_t {
    whole("nvmlGpmSampleFree", |_| {
        let known = lock().open.remove(&sample.addr());
        known.map(|_| ()).ok_or(nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlGpmSampleGet(device: nvmlDevice_t, sample: nvmlGpmSample_t) -> nvmlReturn_t {
    call("nvmlGpmSampleGet", device, |gpu| {
        if gpu.instances().is_some() {
            return Err(nvmlReturn_enum_NVML_ERROR_NOT_SUPPORTED);
        }
        take(sample, (gpu.number, 0))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlGpmMigSampleGet(
    device: nvmlDevice_t,
    instance: c_uint,
    sample: nvmlGpmSample_t,
) -> nvmlReturn_t {
    call("nvmlGpmMigSampleGet", device, |gpu| {
        if gpu.instances().is_none_or(|count| instance == 0 || instance > count) {
            return Err(nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT);
        }
        take(sample, (gpu.number, instance))
    })
}

fn take(sample: nvmlGpmSample_t, of: (u32, u32)) -> Result<(), Code> {
    let mut samples = lock();
    let known = samples.open.get_mut(&sample.addr()).ok_or(nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT)?;
    *known = Some(of);
    Ok(())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlGpmMetricsGet(request: *mut nvmlGpmMetricsGet_t) -> nvmlReturn_t {
    // SAFETY: callers keep NVML's contract: the pointer is null, or points to a request that is filled in.
    let Some(request) = (unsafe { request.as_mut() }) else { return nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT };
    returned(measure(request))
}

/// Computes the requested values; an error unless there are two different samples of the same GPU or instance.
fn measure(request: &mut nvmlGpmMetricsGet_t) -> Result<(), Code> {
    let gpu_of = |sample: nvmlGpmSample_t| lock().open.get(&sample.addr()).copied().flatten();
    let (first, second) = (gpu_of(request.sample1), gpu_of(request.sample2));
    let same = first.filter(|_| first == second && request.sample1 != request.sample2);
    let (number, instance) = same.ok_or(nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT)?;
    let instance = Some(instance).filter(|instance| *instance > 0);
    let gpu = Gpu::enter(Handle::of(&Script::now(), number, 0).pointer(), "nvmlGpmMetricsGet")?;
    let count = request.numMetrics as usize;
    for metric in request.metrics.iter_mut().take(count) {
        let name = name(metric.metricId);
        let failure = gpu.failure_of(name, instance);
        let unknown = name.is_empty().then_some(nvmlReturn_enum_NVML_ERROR_NOT_SUPPORTED);
        metric.nvmlReturn = failure.or(unknown).unwrap_or(nvmlReturn_enum_NVML_SUCCESS);
        metric.value = gpu.value_of(name, instance);
    }
    Ok(())
}

/// The GPM metrics by NVML's number, with the names of their values.
pub(crate) const NAMES: [(u32, &str); 8] = [
    (nvmlGpmMetricId_t_NVML_GPM_METRIC_GRAPHICS_UTIL, "active_graphics"),
    (nvmlGpmMetricId_t_NVML_GPM_METRIC_SM_UTIL, "active_sm"),
    (nvmlGpmMetricId_t_NVML_GPM_METRIC_SM_OCCUPANCY, "active_occupancy"),
    (nvmlGpmMetricId_t_NVML_GPM_METRIC_ANY_TENSOR_UTIL, "active_tensor"),
    (nvmlGpmMetricId_t_NVML_GPM_METRIC_DRAM_BW_UTIL, "active_dram"),
    (nvmlGpmMetricId_t_NVML_GPM_METRIC_FP64_UTIL, "active_fp64"),
    (nvmlGpmMetricId_t_NVML_GPM_METRIC_FP32_UTIL, "active_fp32"),
    (nvmlGpmMetricId_t_NVML_GPM_METRIC_FP16_UTIL, "active_fp16"),
];

fn name(id: u32) -> &'static str {
    NAMES.iter().find(|(known, _)| *known == id).map_or("", |(_, name)| name)
}
