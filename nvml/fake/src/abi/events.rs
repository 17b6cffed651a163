//! Event functions.

use std::ffi::{c_uint, c_ulonglong};
use std::time::{Duration, Instant};

use nvml_wrapper_sys::bindings::*;

use super::{call, put, returned, whole};
use crate::events;
use crate::script::Script;
use crate::value::{Code, Gpu, Handle};

const PAUSE: Duration = Duration::from_millis(10);

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
    wait("nvmlEventSetWait_v2", set.addr(), timeout_ms, |event| {
        // SAFETY: callers keep NVML's contract.
        unsafe { put(out, event) }
    })
}

/// Waits for an event of a set, at most until the timeout, and passes it on.
pub(super) fn wait(
    function: &str,
    set: usize,
    timeout_ms: c_uint,
    hand: impl FnOnce(nvmlEventData_t) -> Result<(), Code>,
) -> nvmlReturn_t {
    let deadline = Instant::now() + Duration::from_millis(u64::from(timeout_ms));
    loop {
        match next_event(function, set) {
            Ok(Some(event)) => return returned(hand(event)),
            Ok(None) if Instant::now() >= deadline => return nvmlReturn_enum_NVML_ERROR_TIMEOUT,
            Ok(None) => std::thread::sleep(pause(deadline)),
            Err(code) => return code,
        }
    }
}

/// Returns the pause between two checks for events: unlike a driver, the fake polls.
fn pause(deadline: Instant) -> Duration {
    let pause = Script::now().number("event_pause").map_or(PAUSE, Duration::from_secs_f64);
    pause.min(deadline.saturating_duration_since(Instant::now()))
}

/// Returns the next event of a set, if there is one; an error if a GPU of the set fails or belongs to an older
/// generation.
fn next_event(function: &str, set: usize) -> Result<Option<nvmlEventData_t>, Code> {
    let script = Script::now();
    for gpu in events::watched(set).ok_or(nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT)? {
        Gpu::enter(gpu.pointer(), function)?;
    }
    Ok(events::take(set, &script).map(|event| nvmlEventData_t {
        device: Handle::of(&script, event.gpu, 0).pointer(),
        eventType: c_ulonglong::from(nvmlEventTypeXidCriticalError),
        eventData: event.xid,
        gpuInstanceId: c_uint::MAX,
        computeInstanceId: c_uint::MAX,
    }))
}
