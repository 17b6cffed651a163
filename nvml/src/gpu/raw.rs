//! Calls that nvml-wrapper lacks: those of older or newer drivers than the one it was written for, and calls without the
//! wrapper's allocations.
//!
//! A function that the library lacks gives [`NvmlError::FunctionNotFound`], which unlike the wrapper's own error allocates no
//! text.

#![expect(unsafe_code, reason = "the library is C; this is the only place that calls it past the wrapper")]
#![expect(non_upper_case_globals, reason = "the names are those of NVML")]

use nvml_wrapper::error::{NvmlError, nvml_try};
use nvml_wrapper::{Device, EventSet, Nvml};
use nvml_wrapper_sys::bindings::*;

use crate::gpu::sample::Text;

/// A field id and its scope: a link, or 0.
pub(crate) type Field = (u32, u32);

/// Returns total and used memory; used includes the memory that the driver reserves. Every driver has this function.
pub(crate) fn memory(device: &Device<'_>) -> Result<(u64, u64), NvmlError> {
    let function = there(&device.nvml().lib().nvmlDeviceGetMemoryInfo)?;
    let mut memory = nvmlMemory_t { total: 0, free: 0, used: 0 };
    // SAFETY: handle and function are of the same library, whose `Nvml` the device borrows; `memory` has the type that the
    // function fills in and outlives the call.
    nvml_try(unsafe { function(device.handle(), &mut memory) })?;
    Ok((memory.total, memory.used))
}

/// Returns the temperature of the chip, for drivers without the older function.
pub(crate) fn temperature(device: &Device<'_>) -> Result<u32, NvmlError> {
    let function = there(&device.nvml().lib().nvmlDeviceGetTemperatureV)?;
    let mut temperature = nvmlTemperature_t {
        version: (size_of::<nvmlTemperature_v1_t>() | 1 << 24) as u32,
        sensorType: nvmlTemperatureSensors_enum_NVML_TEMPERATURE_GPU,
        temperature: 0,
    };
    // SAFETY: as in `memory`; the version encodes the size of the structure.
    nvml_try(unsafe { function(device.handle(), &mut temperature) })?;
    // Our type has no temperatures below zero.
    u32::try_from(temperature.temperature).map_err(|_| NvmlError::NotSupported)
}

/// Returns the reasons for lowered clocks, with the function that replaces the older one in newer drivers.
pub(crate) fn clock_reasons(device: &Device<'_>) -> Result<u64, NvmlError> {
    let function = there(&device.nvml().lib().nvmlDeviceGetCurrentClocksEventReasons)?;
    let mut reasons = 0;
    // SAFETY: as in `memory`.
    nvml_try(unsafe { function(device.handle(), &mut reasons) })?;
    Ok(reasons)
}

/// The most processes that are listed; if there are more, only their number is known.
const LISTED: usize = 64;

/// Returns the number of compute processes, and the bytes of GPU memory that this process uses; `None` for the bytes if
/// the driver does not report them for this process or the list is too long.
pub(crate) fn processes(device: &Device<'_>) -> Result<(u32, Option<u64>), NvmlError> {
    /// Calls one version of the function. The list types of the versions differ, but have the same first two members.
    macro_rules! ask {
        ($function:ident, $info:ident $(, $rest:ident)*) => {
            if let Ok(function) = &device.nvml().lib().$function {
                let mut list = [$info { pid: 0, usedGpuMemory: 0 $(, $rest: 0)* }; LISTED];
                let mut count = LISTED as u32;
                // SAFETY: as in `memory`; the list has room for `count`.
                let code = unsafe { function(device.handle(), &mut count, list.as_mut_ptr()) };
                if code == nvmlReturn_enum_NVML_ERROR_INSUFFICIENT_SIZE {
                    return Ok((count, None));
                }
                nvml_try(code)?;
                let listed = list.iter().take(count as usize).filter(|info| info.pid == std::process::id());
                // Drivers set all bits if the memory is unknown.
                let bytes = listed.map(|info| info.usedGpuMemory).filter(|bytes| *bytes != u64::MAX);
                return Ok((count, bytes.reduce(u64::saturating_add)));
            }
        };
    }
    ask!(nvmlDeviceGetComputeRunningProcesses_v3, nvmlProcessInfo_v2_t, gpuInstanceId, computeInstanceId);
    ask!(nvmlDeviceGetComputeRunningProcesses_v2, nvmlProcessInfo_v2_t, gpuInstanceId, computeInstanceId);
    ask!(nvmlDeviceGetComputeRunningProcesses, nvmlProcessInfo_v1_t);
    Err(NvmlError::FunctionNotFound)
}

/// Returns the errors of the on-chip memory, in the order of `Wear::sram`, and whether they exceed the threshold.
pub(crate) fn sram(device: &Device<'_>) -> Result<([[u64; 2]; 2], bool), NvmlError> {
    let function = there(&device.nvml().lib().nvmlDeviceGetSramEccErrorStatus)?;
    let mut status = nvmlEccSramErrorStatus_v1_t {
        version: (size_of::<nvmlEccSramErrorStatus_v1_t>() | 1 << 24) as u32,
        aggregateUncParity: 0,
        aggregateUncSecDed: 0,
        aggregateCor: 0,
        volatileUncParity: 0,
        volatileUncSecDed: 0,
        volatileCor: 0,
        aggregateUncBucketL2: 0,
        aggregateUncBucketSm: 0,
        aggregateUncBucketPcie: 0,
        aggregateUncBucketMcu: 0,
        aggregateUncBucketOther: 0,
        bThresholdExceeded: 0,
    };
    // SAFETY: as in `memory`; the version encodes the size of the structure.
    nvml_try(unsafe { function(device.handle(), &mut status) })?;
    let volatile = [status.volatileCor, status.volatileUncParity.saturating_add(status.volatileUncSecDed)];
    let aggregate = [status.aggregateCor, status.aggregateUncParity.saturating_add(status.aggregateUncSecDed)];
    Ok(([volatile, aggregate], status.bThresholdExceeded != 0))
}

/// Returns the UUID, without an allocation.
pub(crate) fn uuid(device: &Device<'_>) -> Result<Text, NvmlError> {
    let function = there(&device.nvml().lib().nvmlDeviceGetUUID)?;
    text(|out, length| {
        // SAFETY: as in `memory`; `out` has room for `length` bytes.
        unsafe { function(device.handle(), out, length) }
    })
}

/// Returns the product name, without an allocation.
pub(crate) fn name(device: &Device<'_>) -> Result<Text, NvmlError> {
    let function = there(&device.nvml().lib().nvmlDeviceGetName)?;
    text(|out, length| {
        // SAFETY: as in `memory`; `out` has room for `length` bytes.
        unsafe { function(device.handle(), out, length) }
    })
}

fn text(fill: impl FnOnce(*mut std::ffi::c_char, u32) -> nvmlReturn_t) -> Result<Text, NvmlError> {
    let mut bytes = [0_u8; Text::MOST];
    nvml_try(fill(bytes.as_mut_ptr().cast(), Text::MOST as u32))?;
    Ok(Text::new(bytes))
}

/// Returns the id of a MIG device's GPU instance.
pub(crate) fn instance_number(device: &Device<'_>) -> Result<u32, NvmlError> {
    let function = there(&device.nvml().lib().nvmlDeviceGetGpuInstanceId)?;
    let mut number = 0;
    // SAFETY: as in `memory`.
    nvml_try(unsafe { function(device.handle(), &mut number) })?;
    Ok(number)
}

/// Returns the fan speed with the function of older drivers, which support one fan.
pub(crate) fn fan_speed(device: &Device<'_>) -> Result<u32, NvmlError> {
    let function = there(&device.nvml().lib().nvmlDeviceGetFanSpeed)?;
    let mut speed = 0;
    // SAFETY: as in `memory`.
    nvml_try(unsafe { function(device.handle(), &mut speed) })?;
    Ok(speed)
}

/// Queries several fields in one call, without an allocation. A field that failed or has an unusable type is `None`.
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
    // A 32-bit count wraps after 4 GB, which may take less than a second, so it is useless.
    let counts_bytes = [field_id::NVML_FI_DEV_PCIE_COUNT_TX_BYTES, field_id::NVML_FI_DEV_PCIE_COUNT_RX_BYTES];
    if counts_bytes.contains(&field.fieldId) && field.valueType != nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_LONG_LONG
    {
        return None;
    }
    // SAFETY: the union was initialized, by `fields` to 0 and by the library with the given type, and every bit pattern is valid
    // for each of these types.
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

/// Waits for an event with the function of older drivers; returns its type and data.
pub(crate) fn wait(nvml: &Nvml, set: &EventSet<'_>, timeout_ms: u32) -> Result<(u64, u64), NvmlError> {
    let function = there(&nvml.lib().nvmlEventSetWait)?;
    // Older drivers fill in the first three members.
    let mut event = nvmlEventData_t {
        device: std::ptr::null_mut(),
        eventType: 0,
        eventData: 0,
        gpuInstanceId: u32::MAX,
        computeInstanceId: u32::MAX,
    };
    // SAFETY: the set is of this library and, being borrowed, is not freed meanwhile; `event` outlives the call and is at least
    // as large as the structure of any driver.
    nvml_try(unsafe { function(set.handle(), &mut event, timeout_ms) })?;
    Ok((event.eventType, event.eventData))
}

fn there<T, E>(function: &Result<T, E>) -> Result<&T, NvmlError> {
    function.as_ref().map_err(|_| NvmlError::FunctionNotFound)
}
