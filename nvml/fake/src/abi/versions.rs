//! Functions that only older or only newer drivers have.

use std::ffi::c_uint;

use nvml_wrapper_sys::bindings::*;

use super::events::wait;
use super::{call, put};
use crate::value::{Code, Gpu};

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetTemperatureV(device: nvmlDevice_t, out: *mut nvmlTemperature_t) -> nvmlReturn_t {
    call("nvmlDeviceGetTemperatureV", device, |gpu| {
        // SAFETY: callers keep NVML's contract: it is null, or they have set its version and sensor.
        let given = unsafe { out.as_mut() }.ok_or(nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT)?;
        if given.version != (size_of::<nvmlTemperature_v1_t>() | 1 << 24) as c_uint {
            return Err(nvmlReturn_enum_NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
        }
        given.temperature = gpu.value("temperature") as i32;
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetFanSpeed(device: nvmlDevice_t, out: *mut c_uint) -> nvmlReturn_t {
    call("nvmlDeviceGetFanSpeed", device, |gpu| {
        let speed = gpu.value("fan") as c_uint;
        // SAFETY: callers keep NVML's contract.
        unsafe { put(out, speed) }
    })
}

/// Functions that count processes; the list itself is never filled in.
macro_rules! processes {
    ($($function:ident($info:ty);)+) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $function(device: nvmlDevice_t, count: *mut c_uint, _infos: *mut $info) -> nvmlReturn_t {
            call(stringify!($function), device, |gpu| {
                // SAFETY: callers keep NVML's contract.
                unsafe { put_processes(gpu, count) }
            })
        }
    )+};
}

processes! {
    nvmlDeviceGetComputeRunningProcesses(nvmlProcessInfo_v1_t);
    nvmlDeviceGetComputeRunningProcesses_v2(nvmlProcessInfo_v2_t);
    nvmlDeviceGetComputeRunningProcesses_v3(nvmlProcessInfo_t);
}

/// # Safety
/// `count` is null or may be written to.
unsafe fn put_processes(gpu: &Gpu, count: *mut c_uint) -> Result<(), Code> {
    let processes = gpu.value("processes") as c_uint;
    // SAFETY: the caller says so.
    unsafe { put(count, processes) }?;
    if processes == 0 { Ok(()) } else { Err(nvmlReturn_enum_NVML_ERROR_INSUFFICIENT_SIZE) }
}

/// What older drivers fill in of an event.
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
        // SAFETY: callers keep NVML's contract, and an event begins with what an older one is.
        unsafe { put(out.cast(), event) }
    })
}
