//! NVML's functions, as `libnvidia-ml.so` exports them.
//!
//! Callers keep NVML's own contract: a pointer for a result is null or points to one, of the type that the function's
//! declaration in `nvml.h` has (here that of nvml-wrapper-sys).

pub(crate) mod device;
mod events;
pub(crate) mod fields;
pub(crate) mod gpm;
mod versions;

use std::ffi::{c_char, c_uint};

use nvml_wrapper_sys::bindings::*;

use crate::script::Script;
use crate::value::{Code, Gpu, Handle, hang};

/// A call for one GPU: it fails as the script says, else does `then`.
fn call(function: &str, device: nvmlDevice_t, then: impl FnOnce(&Gpu) -> Result<(), Code>) -> nvmlReturn_t {
    returned(Gpu::enter(device, function).and_then(|gpu| then(&gpu)))
}

/// A call for the library as a whole.
fn whole(function: &str, then: impl FnOnce(&Script) -> Result<(), Code>) -> nvmlReturn_t {
    hang(&format!("hang.{function}"));
    let script = Script::now();
    returned(script.failure(function).map_or(Ok(()), Err).and_then(|()| then(&script)))
}

fn returned(result: Result<(), Code>) -> nvmlReturn_t {
    result.err().unwrap_or(nvmlReturn_enum_NVML_SUCCESS)
}

/// Hands a result to the caller.
///
/// # Safety
/// `out` is null or may be written to.
unsafe fn put<T>(out: *mut T, value: T) -> Result<(), Code> {
    if out.is_null() {
        return Err(nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT);
    }
    // SAFETY: it is not null, so the caller says that it may be written to.
    unsafe { out.write(value) };
    Ok(())
}

/// Hands a text to the caller, with a zero behind it.
///
/// # Safety
/// `out` is null or has room for `length` bytes.
unsafe fn put_text(out: *mut c_char, length: c_uint, text: &str) -> Result<(), Code> {
    if out.is_null() {
        return Err(nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT);
    }
    if text.len() >= length as usize {
        return Err(nvmlReturn_enum_NVML_ERROR_INSUFFICIENT_SIZE);
    }
    for (at, byte) in text.bytes().chain([0]).enumerate() {
        // SAFETY: `at` is at most `text.len()`, which is below `length`.
        unsafe { out.add(at).write(byte as c_char) };
    }
    Ok(())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlInit_v2() -> nvmlReturn_t {
    whole("nvmlInit_v2", |_| Ok(()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlInitWithFlags(_flags: c_uint) -> nvmlReturn_t {
    whole("nvmlInitWithFlags", |_| Ok(()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlShutdown() -> nvmlReturn_t {
    whole("nvmlShutdown", |_| Ok(()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlSystemGetDriverVersion(out: *mut c_char, length: c_uint) -> nvmlReturn_t {
    whole("nvmlSystemGetDriverVersion", |script| {
        // SAFETY: callers keep NVML's contract.
        unsafe { put_text(out, length, script.driver()) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetCount_v2(out: *mut c_uint) -> nvmlReturn_t {
    whole("nvmlDeviceGetCount_v2", |script| {
        // SAFETY: callers keep NVML's contract.
        unsafe { put(out, script.gpus()) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetHandleByIndex_v2(index: c_uint, out: *mut nvmlDevice_t) -> nvmlReturn_t {
    whole("nvmlDeviceGetHandleByIndex_v2", |script| {
        if index >= script.gpus() {
            return Err(nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT);
        }
        // SAFETY: callers keep NVML's contract.
        unsafe { put(out, Handle::of(script, index, 0).pointer()) }
    })
}
