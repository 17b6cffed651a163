//! Functions that only older or only newer drivers have.

use std::ffi::c_uint;

use nvml_wrapper_sys::bindings::*;

use super::events::wait;
use super::{call, put};
use crate::value::{Code, Gpu};

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetTemperatureV(device: nvmlDevice_t, out: *mut nvmlTemperature_t) -> nvmlReturn_t {
    call("nvmlDeviceGetTemperatureV", device, |gpu| {
        // SAFETY: callers keep NVML's contract: the pointer is null, or callers have set version and sensor.
        let given = unsafe { out.as_mut() }.ok_or(nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT)?;
        if given.version != (size_of::<nvmlTemperature_v1_t>() | 1 << 24) as c_uint {
            return Err(nvmlReturn_enum_NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
        }
        given.temperature = gpu.read("temperature")? as i32;
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetFanSpeed(device: nvmlDevice_t, out: *mut c_uint) -> nvmlReturn_t {
    call("nvmlDeviceGetFanSpeed", device, |gpu| {
        let speed = gpu.read("fan")? as c_uint;
        // SAFETY: callers keep NVML's contract.
        unsafe { put(out, speed) }
    })
}

/// Defines the three versions of the function that lists processes.
macro_rules! processes {
    ($($function:ident($info:ident $(, $rest:ident)*);)+) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $function(device: nvmlDevice_t, count: *mut c_uint, infos: *mut $info) -> nvmlReturn_t {
            call(stringify!($function), device, |gpu| {
                let info = |(pid, bytes)| $info { pid, usedGpuMemory: bytes $(, $rest: c_uint::MAX)* };
                // SAFETY: callers keep NVML's contract: the list has room for the count that they pass, which may be 0.
                unsafe { put_processes(gpu, count, infos, info) }
            })
        }
    )+};
}

processes! {
    nvmlDeviceGetComputeRunningProcesses(nvmlProcessInfo_v1_t);
    nvmlDeviceGetComputeRunningProcesses_v2(nvmlProcessInfo_v2_t, gpuInstanceId, computeInstanceId);
    nvmlDeviceGetComputeRunningProcesses_v3(nvmlProcessInfo_t, gpuInstanceId, computeInstanceId);
}

/// Lists as many processes as the script sets. The first is this process if the script sets its memory.
///
/// # Safety
/// `count` is null, or may be written to and holds the capacity of `infos`.
unsafe fn put_processes<T>(
    gpu: &Gpu,
    count: *mut c_uint,
    infos: *mut T,
    info: impl Fn((c_uint, u64)) -> T,
) -> Result<(), Code> {
    let processes = gpu.read("processes")? as c_uint;
    // SAFETY: guaranteed by the function's contract.
    let room = unsafe { count.as_ref() }.copied().unwrap_or(0);
    // SAFETY: guaranteed by the function's contract.
    unsafe { put(count, processes) }?;
    if processes > room || processes > 0 && infos.is_null() {
        return Err(nvmlReturn_enum_NVML_ERROR_INSUFFICIENT_SIZE);
    }
    let own = gpu.setting("process_memory").map(|bytes| (std::process::id(), bytes as u64));
    let others = (0..).map(|number| (c_uint::MAX - number, 1 << 20));
    for (at, process) in own.into_iter().chain(others).take(processes as usize).enumerate() {
        // SAFETY: `at` is below `room`, the capacity of `infos`.
        unsafe { infos.add(at).write(info(process)) };
    }
    Ok(())
}

/// The members of an event that older drivers fill in.
#[repr(C)]
struct OlderEvent {
    device: nvmlDevice_t,
    kind: u64,
    data: u64,
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlEventSetWait(
    set: nvmlEventSet_t,
    out: *mut nvmlEventData_t,
    timeout_ms: c_uint,
) -> nvmlReturn_t {
    wait("nvmlEventSetWait", set.addr(), timeout_ms, |event| {
        let event = OlderEvent { device: event.device, kind: event.eventType, data: event.eventData };
        // SAFETY: callers keep NVML's contract, and an event begins with the members of an older one.
        unsafe { put(out.cast(), event) }
    })
}
