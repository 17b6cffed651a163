//! The NVML functions that `libnvidia-ml.so` exports.
//!
//! Callers keep NVML's contract: a result pointer is null or points to a value of the type in the function's declaration in
//! `nvml.h` (here that of nvml-wrapper-sys).

pub(crate) mod device;
mod events;
pub(crate) mod fields;
pub(crate) mod gpm;
mod versions;

use std::ffi::{c_char, c_uint};

use nvml_wrapper_sys::bindings::*;

use crate::script::Script;
use crate::value::{Code, Gpu, Handle, hang};

/// Runs a call for one GPU: fails if the script demands it, else calls `then`.
fn call(function: &str, device: nvmlDevice_t, then: impl FnOnce(&Gpu) -> Result<(), Code>) -> nvmlReturn_t {
    returned(Gpu::enter(device, function).and_then(|gpu| then(&gpu)))
}

/// Runs a library-wide call: hangs or fails if the script demands it, else calls `then`.
fn whole(function: &str, then: impl FnOnce(&Script) -> Result<(), Code>) -> nvmlReturn_t {
    hang(&format!("hang.{function}"));
    let script = Script::now();
    returned(script.failure(function).map_or(Ok(()), Err).and_then(|()| then(&script)))
}

fn returned(result: Result<(), Code>) -> nvmlReturn_t {
    result.err().unwrap_or(nvmlReturn_enum_NVML_SUCCESS)
}

/// Writes a result for the caller.
///
/// # Safety
/// `out` is null or may be written to.
unsafe fn put<T>(out: *mut T, value: T) -> Result<(), Code> {
    if out.is_null() {
        return Err(nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT);
    }
    // SAFETY: `out` is not null, so by the function's contract it may be written to.
    unsafe { out.write(value) };
    Ok(())
}

/// Writes a zero-terminated text for the caller.
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
