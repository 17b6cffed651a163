//! Calls that nvml-wrapper does not make: those of drivers that are older or newer than the one it was written for, and
//! one that it makes with two allocations.
//!
//! A function that the library lacks is [`NvmlError::FunctionNotFound`]: unlike the wrapper's own error it holds no text.

#![expect(unsafe_code, reason = "the library is C; this is the only place that calls it past the wrapper")]
#![expect(non_upper_case_globals, reason = "the names are those of NVML")]

use nvml_wrapper::error::{NvmlError, nvml_try};
use nvml_wrapper::{Device, EventSet, Nvml};
use nvml_wrapper_sys::bindings::*;

/// A field and what of the GPU it is asked of: a link, or 0.
pub(crate) type Field = (u32, u32);

/// Total and used, which has in it what the driver keeps. Every driver has this one.
pub(crate) fn memory(device: &Device<'_>) -> Result<(u64, u64), NvmlError> {
    let function = there(&device.nvml().lib().nvmlDeviceGetMemoryInfo)?;
    let mut memory = nvmlMemory_t { total: 0, free: 0, used: 0 };
    // SAFETY: the handle is of the library that the function is of, whose `Nvml` the device borrows; `memory` is of the
    // type that the function fills in and outlives the call.
    nvml_try(unsafe { function(device.handle(), &mut memory) })?;
    Ok((memory.total, memory.used))
}

/// The temperature of the chip, as drivers say it that have dropped the older call.
pub(crate) fn temperature(device: &Device<'_>) -> Result<u32, NvmlError> {
    let function = there(&device.nvml().lib().nvmlDeviceGetTemperatureV)?;
    let mut temperature = nvmlTemperature_t {
        version: (size_of::<nvmlTemperature_v1_t>() | 1 << 24) as u32,
        sensorType: nvmlTemperatureSensors_enum_NVML_TEMPERATURE_GPU,
        temperature: 0,
    };
    // SAFETY: as in `memory`; the version says how large the structure is.
    nvml_try(unsafe { function(device.handle(), &mut temperature) })?;
    // Below zero there is no value of ours for it.
    u32::try_from(temperature.temperature).map_err(|_| NvmlError::NotSupported)
}

/// Why clocks are held down, under the name that the call has in newer drivers.
pub(crate) fn clock_reasons(device: &Device<'_>) -> Result<u64, NvmlError> {
    let function = there(&device.nvml().lib().nvmlDeviceGetCurrentClocksEventReasons)?;
    let mut reasons = 0;
    // SAFETY: as in `memory`.
    nvml_try(unsafe { function(device.handle(), &mut reasons) })?;
    Ok(reasons)
}

/// How many processes compute, as older drivers say it.
pub(crate) fn processes(device: &Device<'_>) -> Result<u32, NvmlError> {
    let lib = device.nvml().lib();
    let mut count = 0;
    let code = match (&lib.nvmlDeviceGetComputeRunningProcesses_v2, &lib.nvmlDeviceGetComputeRunningProcesses) {
        // SAFETY: as in `memory`. With a count of 0 nothing is written to the list, which may be null then.
        (Ok(function), _) => unsafe { function(device.handle(), &mut count, std::ptr::null_mut()) },
        // SAFETY: the same.
        (_, Ok(function)) => unsafe { function(device.handle(), &mut count, std::ptr::null_mut()) },
        _ => return Err(NvmlError::FunctionNotFound),
    };
    match code {
        nvmlReturn_enum_NVML_ERROR_INSUFFICIENT_SIZE => Ok(count),
        code => nvml_try(code).map(|()| 0),
    }
}

/// How fast the only fan runs that older drivers know.
pub(crate) fn fan_speed(device: &Device<'_>) -> Result<u32, NvmlError> {
    let function = there(&device.nvml().lib().nvmlDeviceGetFanSpeed)?;
    let mut speed = 0;
    // SAFETY: as in `memory`.
    nvml_try(unsafe { function(device.handle(), &mut speed) })?;
    Ok(speed)
}

/// Several fields in one call, without an allocation. One that the GPU does not have is `None`.
pub(crate) fn fields<const N: usize>(device: &Device<'_>, fields: &[Field; N]) -> Result<[Option<u64>; N], NvmlError> {
    let function = there(&device.nvml().lib().nvmlDeviceGetFieldValues)?;
    let mut values = fields.map(|(field, scope)| nvmlFieldValue_t {
        fieldId: field,
        scopeId: scope,
        timestamp: 0,
        latencyUsec: 0,
        valueType: 0,
        nvmlReturn: nvmlReturn_enum_NVML_ERROR_UNKNOWN,
        value: nvmlValue_t { ullVal: 0 },
    });
    // SAFETY: as in `memory`; there are `N` values, with their fields set.
    nvml_try(unsafe { function(device.handle(), N as i32, values.as_mut_ptr()) })?;
    Ok(values.map(|value| number(&value)))
}

fn number(field: &nvmlFieldValue_t) -> Option<u64> {
    if field.nvmlReturn != nvmlReturn_enum_NVML_SUCCESS {
        return None;
    }
    let value = field.value;
    // SAFETY: all of it was initialized, by `fields` to 0 and by the library as the type says, and every pattern of bits
    // is a number of each of these types.
    unsafe {
        match field.valueType {
            nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_INT => Some(u64::from(value.uiVal)),
            #[allow(clippy::useless_conversion, reason = "it has 32 bits elsewhere")]
            nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_LONG => Some(u64::from(value.ulVal)),
            nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_LONG_LONG => Some(value.ullVal),
            nvmlValueType_enum_NVML_VALUE_TYPE_SIGNED_LONG_LONG => u64::try_from(value.sllVal).ok(),
            nvmlValueType_enum_NVML_VALUE_TYPE_SIGNED_INT => u64::try_from(value.siVal).ok(),
            nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_SHORT => Some(u64::from(value.usVal)),
            _ => None,
        }
    }
}

/// Waits for an event as older drivers do; its type and what it is about.
pub(crate) fn wait(nvml: &Nvml, set: &EventSet<'_>, timeout_ms: u32) -> Result<(u64, u64), NvmlError> {
    let function = there(&nvml.lib().nvmlEventSetWait)?;
    // Those drivers fill in the first three.
    let mut event = nvmlEventData_t {
        device: std::ptr::null_mut(),
        eventType: 0,
        eventData: 0,
        gpuInstanceId: u32::MAX,
        computeInstanceId: u32::MAX,
    };
    // SAFETY: the set is of this library and is not freed meanwhile, as it is borrowed; `event` outlives the call and is
    // not smaller than what any driver writes.
    nvml_try(unsafe { function(set.handle(), &mut event, timeout_ms) })?;
    Ok((event.eventType, event.eventData))
}

fn there<T, E>(function: &Result<T, E>) -> Result<&T, NvmlError> {
    function.as_ref().map_err(|_| NvmlError::FunctionNotFound)
}
