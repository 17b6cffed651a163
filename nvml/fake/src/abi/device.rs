//! Functions about one GPU.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong};

use nvml_wrapper_sys::bindings::*;

use super::{call, put, put_text};
use crate::value::{Code, Gpu, Handle};

/// Functions that give one value of a GPU.
macro_rules! readings {
    ($($function:ident($($argument:ident: $kind:ty),*) -> $type:ty = |$gpu:ident| $value:expr;)+) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $function(device: nvmlDevice_t, $($argument: $kind,)* out: *mut $type) -> nvmlReturn_t {
            call(stringify!($function), device, |$gpu| {
                let value = $value as $type;
                // SAFETY: callers keep NVML's contract.
                unsafe { put(out, value) }
            })
        }
    )+};
}

readings! {
    nvmlDeviceGetIndex() -> c_uint = |gpu| gpu.number;
    nvmlDeviceGetTemperature(_sensor: c_uint) -> c_uint = |gpu| gpu.value("temperature");
    nvmlDeviceGetPowerUsage() -> c_uint = |gpu| gpu.value("power");
    nvmlDeviceGetEnforcedPowerLimit() -> c_uint = |gpu| gpu.value("power_limit");
    nvmlDeviceGetTotalEnergyConsumption() -> c_ulonglong = |gpu| gpu.value("energy");
    nvmlDeviceGetClockInfo(clock: c_uint) -> c_uint = |gpu| {
        gpu.value(if clock == nvmlClockType_enum_NVML_CLOCK_MEM { "clock_memory" } else { "clock_sm" })
    };
    nvmlDeviceGetCurrentClocksThrottleReasons() -> c_ulonglong = |gpu| gpu.value("throttle");
    nvmlDeviceGetCurrentClocksEventReasons() -> c_ulonglong = |gpu| gpu.value("throttle");
    nvmlDeviceGetTotalEccErrors(error: c_uint, _counter: c_uint) -> c_ulonglong = |gpu| {
        let corrected = error == nvmlMemoryErrorType_enum_NVML_MEMORY_ERROR_TYPE_CORRECTED;
        gpu.value(if corrected { "ecc_corrected" } else { "ecc_uncorrected" })
    };
    nvmlDeviceGetPcieReplayCounter() -> c_uint = |gpu| gpu.value("replays");
    nvmlDeviceGetPcieThroughput(counter: c_uint) -> c_uint = |gpu| {
        let sent = counter == nvmlPcieUtilCounter_enum_NVML_PCIE_UTIL_TX_BYTES;
        gpu.value(if sent { "pcie_sent" } else { "pcie_received" })
    };
    nvmlDeviceGetFanSpeed_v2(_fan: c_uint) -> c_uint = |gpu| gpu.value("fan");
    nvmlDeviceGetPerformanceState() -> c_uint = |gpu| gpu.value("performance_state");
    nvmlDeviceGetCurrPcieLinkGeneration() -> c_uint = |gpu| gpu.value("link_generation");
    nvmlDeviceGetCurrPcieLinkWidth() -> c_uint = |gpu| gpu.value("link_width");
    nvmlDeviceGetMaxMigDeviceCount() -> c_uint = |gpu| gpu.instances().unwrap_or(0);
    nvmlDeviceIsMigDeviceHandle() -> c_uint = |gpu| gpu.instance.min(1);
}

/// Functions that give a utilization, and over how many microseconds it was.
macro_rules! engines {
    ($($function:ident = $name:literal;)+) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $function(device: nvmlDevice_t, out: *mut c_uint, period: *mut c_uint) -> nvmlReturn_t {
            call(stringify!($function), device, |gpu| {
                let value = gpu.value($name) as c_uint;
                // SAFETY: callers keep NVML's contract.
                unsafe { put(out, value).and_then(|()| put(period, 1_000_000)) }
            })
        }
    )+};
}

engines! {
    nvmlDeviceGetEncoderUtilization = "encoder";
    nvmlDeviceGetDecoderUtilization = "decoder";
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetUUID(device: nvmlDevice_t, out: *mut c_char, length: c_uint) -> nvmlReturn_t {
    call("nvmlDeviceGetUUID", device, |gpu| {
        let kind = if gpu.instance == 0 { "GPU" } else { "MIG" };
        let usual = format!("{kind}-{:08x}-fa4e-4000-8000-{:012x}", gpu.number, gpu.instance);
        let scripted = gpu.script.text(&format!("gpu{}.uuid", gpu.number)).filter(|_| gpu.instance == 0);
        // SAFETY: callers keep NVML's contract.
        unsafe { put_text(out, length, scripted.unwrap_or(&usual)) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetName(device: nvmlDevice_t, out: *mut c_char, length: c_uint) -> nvmlReturn_t {
    call("nvmlDeviceGetName", device, |gpu| {
        let name = gpu.script.text("name").unwrap_or("NVIDIA Fake 80GB");
        // SAFETY: callers keep NVML's contract.
        unsafe { put_text(out, length, name) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetPciInfo_v3(device: nvmlDevice_t, out: *mut nvmlPciInfo_t) -> nvmlReturn_t {
    call("nvmlDeviceGetPciInfo_v3", device, |gpu| {
        let bus = gpu.number + 1;
        let mut bus_id: [c_char; 32] = [0; 32];
        for (to, byte) in bus_id.iter_mut().zip(format!("00000000:{bus:02X}:00.0").bytes()) {
            *to = byte as c_char;
        }
        let info = nvmlPciInfo_t {
            busIdLegacy: [0; 16],
            domain: 0,
            bus,
            device: 0,
            pciDeviceId: 0x2330_10de,
            pciSubSystemId: 0,
            busId: bus_id,
        };
        // SAFETY: callers keep NVML's contract.
        unsafe { put(out, info) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetUtilizationRates(device: nvmlDevice_t, out: *mut nvmlUtilization_t) -> nvmlReturn_t {
    call("nvmlDeviceGetUtilizationRates", device, |gpu| {
        // Some drivers say 0 under MIG instead, if the script says so.
        if gpu.instances().is_some() && gpu.setting("utilization").is_none() {
            return Err(nvmlReturn_enum_NVML_ERROR_NOT_SUPPORTED);
        }
        let (of_gpu, of_memory) = (gpu.value("utilization"), gpu.value("memory_utilization"));
        // SAFETY: callers keep NVML's contract.
        unsafe { put(out, nvmlUtilization_t { gpu: of_gpu as c_uint, memory: of_memory as c_uint }) }
    })
}

/// Total, reserved, free and used. An instance has its share, and uses half of it.
fn memory(gpu: &Gpu) -> [c_ulonglong; 4] {
    let [total, reserved, used] =
        ["memory_total", "memory_reserved", "memory_used"].map(|name| gpu.value(name) as c_ulonglong);
    if gpu.instance == 0 {
        return [total, reserved, total.saturating_sub(reserved + used), used];
    }
    let share = total / c_ulonglong::from(gpu.instances().unwrap_or(1).max(1));
    [share, 0, share - share / 2, share / 2]
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetMemoryInfo(device: nvmlDevice_t, out: *mut nvmlMemory_t) -> nvmlReturn_t {
    call("nvmlDeviceGetMemoryInfo", device, |gpu| {
        let [total, reserved, free, used] = memory(gpu);
        // SAFETY: callers keep NVML's contract.
        unsafe { put(out, nvmlMemory_t { total, free, used: used + reserved }) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetMemoryInfo_v2(device: nvmlDevice_t, out: *mut nvmlMemory_v2_t) -> nvmlReturn_t {
    call("nvmlDeviceGetMemoryInfo_v2", device, |gpu| {
        let version = (size_of::<nvmlMemory_v2_t>() | 2 << 24) as c_uint;
        // SAFETY: callers keep NVML's contract: it is null, or they have set its version.
        if unsafe { out.as_ref() }.is_some_and(|given| given.version != version) {
            return Err(nvmlReturn_enum_NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
        }
        let [total, reserved, free, used] = memory(gpu);
        // SAFETY: callers keep NVML's contract.
        unsafe { put(out, nvmlMemory_v2_t { version, total, reserved, free, used }) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetFieldValues(
    device: nvmlDevice_t,
    count: c_int,
    values: *mut nvmlFieldValue_t,
) -> nvmlReturn_t {
    call("nvmlDeviceGetFieldValues", device, |gpu| {
        if values.is_null() || count < 0 {
            return Err(nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT);
        }
        // SAFETY: callers keep NVML's contract: there are `count` of them, with their ids set.
        for value in unsafe { std::slice::from_raw_parts_mut(values, count as usize) } {
            let name = field(value.fieldId, value.scopeId);
            let failure = gpu.setting(&format!("fail.{name}")).map(|code| code as Code);
            let unknown = name.is_empty().then_some(nvmlReturn_enum_NVML_ERROR_NOT_SUPPORTED);
            value.nvmlReturn = failure.or(unknown).unwrap_or(nvmlReturn_enum_NVML_SUCCESS);
            (value.valueType, value.value) = typed(name, gpu.value(name));
        }
        Ok(())
    })
}

/// The name of a field's value, of all links together where it is about those.
fn field(id: c_uint, scope: c_uint) -> &'static str {
    match (id, scope) {
        (field_id::NVML_FI_DEV_MEMORY_TEMP, _) => "memory_temperature",
        (field_id::NVML_FI_DEV_REMAPPED_COR, _) => "remapped_correctable",
        (field_id::NVML_FI_DEV_REMAPPED_UNC, _) => "remapped_uncorrectable",
        (field_id::NVML_FI_DEV_REMAPPED_PENDING, _) => "remapped_pending",
        (field_id::NVML_FI_DEV_REMAPPED_FAILURE, _) => "remapped_failure",
        (field_id::NVML_FI_DEV_NVLINK_LINK_COUNT, _) => "nvlink_count",
        (field_id::NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, c_uint::MAX) => "nvlink_sent",
        (field_id::NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, c_uint::MAX) => "nvlink_received",
        (field_id::NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL, _) => "nvlink_crc_flit",
        (field_id::NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL, _) => "nvlink_crc_data",
        (field_id::NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL, _) => "nvlink_replay",
        (field_id::NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL, _) => "nvlink_recovery",
        _ => "",
    }
}

/// Counts of links are of the longer type, as a driver has them.
fn typed(name: &str, value: f64) -> (nvmlValueType_t, nvmlValue_t) {
    match name.strip_prefix("nvlink_") {
        Some(count) if count != "count" => {
            (nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_LONG_LONG, nvmlValue_t { ullVal: value as c_ulonglong })
        }
        _ => (nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_INT, nvmlValue_t { uiVal: value as c_uint }),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetMigMode(
    device: nvmlDevice_t,
    current: *mut c_uint,
    pending: *mut c_uint,
) -> nvmlReturn_t {
    call("nvmlDeviceGetMigMode", device, |gpu| {
        let mode = c_uint::from(gpu.instances().is_some());
        // SAFETY: callers keep NVML's contract.
        unsafe { put(current, mode).and_then(|()| put(pending, mode)) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetMigDeviceHandleByIndex(
    device: nvmlDevice_t,
    index: c_uint,
    out: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    call("nvmlDeviceGetMigDeviceHandleByIndex", device, |gpu| {
        if gpu.instances().is_none_or(|count| index >= count) {
            return Err(nvmlReturn_enum_NVML_ERROR_NOT_FOUND);
        }
        // SAFETY: callers keep NVML's contract.
        unsafe { put(out, Handle::of(&gpu.script, gpu.number, index + 1).pointer()) }
    })
}
