//! Functions about events.

use std::ffi::{c_uint, c_ulonglong};
use std::time::{Duration, Instant};

use nvml_wrapper_sys::bindings::*;

use super::{call, put, returned, whole};
use crate::events;
use crate::script::Script;
use crate::value::{Code, Gpu, Handle};

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlEventSetCreate(out: *mut nvmlEventSet_t) -> nvmlReturn_t {
    whole("nvmlEventSetCreate", |_| {
        // SAFETY: callers keep NVML's contract.
        unsafe { put(out, std::ptr::without_provenance_mut(events::open())) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlEventSetFree(set: nvmlEventSet_t) -> nvmlReturn_t {
    whole("nvmlEventSetFree", |_| known(events::close(set.addr())))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceRegisterEvents(
    device: nvmlDevice_t,
    _types: c_ulonglong,
    set: nvmlEventSet_t,
) -> nvmlReturn_t {
    call("nvmlDeviceRegisterEvents", device, |gpu| known(events::watch(set.addr(), gpu.number, &gpu.script)))
}

fn known(known: bool) -> Result<(), Code> {
    if known { Ok(()) } else { Err(nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlEventSetWait_v2(
    set: nvmlEventSet_t,
    out: *mut nvmlEventData_t,
    timeout_ms: c_uint,
) -> nvmlReturn_t {
    let deadline = Instant::now() + Duration::from_millis(u64::from(timeout_ms));
    loop {
        let result = next_event(set.addr());
        if let Ok(Some(event)) = result {
            // SAFETY: callers keep NVML's contract.
            return returned(unsafe { put(out, event) });
        }
        if let Err(code) = result {
            return code;
        }
        if Instant::now() >= deadline {
            return nvmlReturn_enum_NVML_ERROR_TIMEOUT;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What a set has to deliver. A GPU of it that fails, or whose generation is over, fails the wait.
fn next_event(set: usize) -> Result<Option<nvmlEventData_t>, Code> {
    let script = Script::now();
    for gpu in events::watched(set).ok_or(nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT)? {
        Gpu::enter(Handle::of(&script, gpu, 0).pointer(), "nvmlEventSetWait_v2")?;
    }
    Ok(events::take(set, &script).map(|event| nvmlEventData_t {
        device: Handle::of(&script, event.gpu, 0).pointer(),
        eventType: c_ulonglong::from(nvmlEventTypeXidCriticalError),
        eventData: event.xid,
        gpuInstanceId: c_uint::MAX,
        computeInstanceId: c_uint::MAX,
    }))
}
