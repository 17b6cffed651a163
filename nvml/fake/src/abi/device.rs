//! Functions for one GPU.

use std::ffi::{c_char, c_uint, c_ulonglong};

use nvml_wrapper_sys::bindings::*;

use super::{call, put, put_text};
use crate::value::{Code, Gpu, Handle};

/// Temperature thresholds.
pub(crate) const LIMITS: [(c_uint, &str); 4] = [
    (nvmlTemperatureThresholds_enum_NVML_TEMPERATURE_THRESHOLD_SHUTDOWN, "limit_shutdown"),
    (nvmlTemperatureThresholds_enum_NVML_TEMPERATURE_THRESHOLD_SLOWDOWN, "limit_slowdown"),
    (nvmlTemperatureThresholds_enum_NVML_TEMPERATURE_THRESHOLD_MEM_MAX, "limit_memory"),
    (nvmlTemperatureThresholds_enum_NVML_TEMPERATURE_THRESHOLD_GPU_MAX, "limit_gpu"),
];

/// Defines functions that return one value of a GPU.
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
    nvmlDeviceGetTemperature(_sensor: c_uint) -> c_uint = |gpu| gpu.read("temperature")?;
    nvmlDeviceGetPowerUsage() -> c_uint = |gpu| gpu.read("power")?;
    nvmlDeviceGetEnforcedPowerLimit() -> c_uint = |gpu| gpu.read("power_limit")?;
    nvmlDeviceGetTotalEnergyConsumption() -> c_ulonglong = |gpu| gpu.read("energy")?;
    nvmlDeviceGetClockInfo(clock: c_uint) -> c_uint = |gpu| {
        gpu.read(if clock == nvmlClockType_enum_NVML_CLOCK_MEM { "clock_memory" } else { "clock_sm" })?
    };
    nvmlDeviceGetCurrentClocksThrottleReasons() -> c_ulonglong = |gpu| gpu.read("throttle")?;
    nvmlDeviceGetCurrentClocksEventReasons() -> c_ulonglong = |gpu| gpu.read("throttle")?;
    nvmlDeviceGetTotalEccErrors(error: c_uint, counter: c_uint) -> c_ulonglong = |gpu| {
        let corrected = error == nvmlMemoryErrorType_enum_NVML_MEMORY_ERROR_TYPE_CORRECTED;
        let volatile = counter == nvmlEccCounterType_enum_NVML_VOLATILE_ECC;
        gpu.read(match (volatile, corrected) {
            (true, true) => "ecc_corrected",
            (true, false) => "ecc_uncorrected",
            (false, true) => "ecc_aggregate_corrected",
            (false, false) => "ecc_aggregate_uncorrected",
        })?
    };
    nvmlDeviceGetTemperatureThreshold(threshold: c_uint) -> c_uint = |gpu| {
        let known = LIMITS.iter().find(|(number, _)| *number == threshold);
        let (_, name) = known.ok_or(nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT)?;
        gpu.read(name)?
    };
    nvmlDeviceGetGpuInstanceId() -> c_uint = |gpu| gpu.instance;
    nvmlDeviceGetPcieReplayCounter() -> c_uint = |gpu| gpu.read("replays")?;
    nvmlDeviceGetPcieThroughput(counter: c_uint) -> c_uint = |gpu| {
        let sent = counter == nvmlPcieUtilCounter_enum_NVML_PCIE_UTIL_TX_BYTES;
        gpu.read(if sent { "pcie_sent" } else { "pcie_received" })?
    };
    nvmlDeviceGetFanSpeed_v2(_fan: c_uint) -> c_uint = |gpu| gpu.read("fan")?;
    nvmlDeviceGetPerformanceState() -> c_uint = |gpu| gpu.read("performance_state")?;
    nvmlDeviceGetCurrPcieLinkGeneration() -> c_uint = |gpu| gpu.read("link_generation")?;
    nvmlDeviceGetCurrPcieLinkWidth() -> c_uint = |gpu| gpu.read("link_width")?;
    nvmlDeviceGetMaxMigDeviceCount() -> c_uint = |gpu| gpu.instances().unwrap_or(0);
    nvmlDeviceIsMigDeviceHandle() -> c_uint = |gpu| gpu.instance.min(1);
}

/// Defines functions that return a utilization and its sampling period in microseconds.
macro_rules! engines {
    ($($function:ident = $name:literal;)+) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $function(device: nvmlDevice_t, out: *mut c_uint, period: *mut c_uint) -> nvmlReturn_t {
            call(stringify!($function), device, |gpu| {
                let value = gpu.read($name)? as c_uint;
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
        let scripted = match gpu.instance {
            0 => gpu.text("uuid"),
            instance => gpu.text(&format!("instance{instance}.uuid")),
        };
        // SAFETY: callers keep NVML's contract.
        unsafe { put_text(out, length, scripted.unwrap_or(&usual)) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetName(device: nvmlDevice_t, out: *mut c_char, length: c_uint) -> nvmlReturn_t {
    call("nvmlDeviceGetName", device, |gpu| {
        let name = gpu.text("name").or_else(|| gpu.script.text("name")).unwrap_or("NVIDIA Fake 80GB");
        let own = gpu.text(&format!("instance{}.profile", gpu.instance));
        let profile = own.or_else(|| gpu.text("profile")).unwrap_or("1g.10gb");
        let of_instance = (gpu.instance > 0).then(|| format!("{name} MIG {profile}"));
        // SAFETY: callers keep NVML's contract.
        unsafe { put_text(out, length, of_instance.as_deref().unwrap_or(name)) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetSerial(device: nvmlDevice_t, out: *mut c_char, length: c_uint) -> nvmlReturn_t {
    call("nvmlDeviceGetSerial", device, |gpu| {
        let usual = format!("165{:010}", gpu.number);
        // SAFETY: callers keep NVML's contract.
        unsafe { put_text(out, length, gpu.text("serial").unwrap_or(&usual)) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetSramEccErrorStatus(
    device: nvmlDevice_t,
    out: *mut nvmlEccSramErrorStatus_t,
) -> nvmlReturn_t {
    call("nvmlDeviceGetSramEccErrorStatus", device, |gpu| {
        // SAFETY: callers keep NVML's contract: the pointer is null, or callers have set the version.
        let status = unsafe { out.as_mut() }.ok_or(nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT)?;
        if status.version != (size_of::<nvmlEccSramErrorStatus_v1_t>() | 1 << 24) as c_uint {
            return Err(nvmlReturn_enum_NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
        }
        let [volatile, uncorrected, aggregate, aggregate_uncorrected] =
            ["sram_corrected", "sram_uncorrected", "sram_aggregate_corrected", "sram_aggregate_uncorrected"]
                .map(|name| gpu.value(name) as c_ulonglong);
        gpu.read("sram_corrected")?;
        (status.volatileCor, status.aggregateCor) = (volatile, aggregate);
        // Errors of both kinds are uncorrected.
        (status.volatileUncParity, status.volatileUncSecDed) = (uncorrected / 2, uncorrected - uncorrected / 2);
        (status.aggregateUncParity, status.aggregateUncSecDed) = (0, aggregate_uncorrected);
        status.bThresholdExceeded = gpu.value("sram_exceeded") as c_uint;
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetPciInfo_v3(device: nvmlDevice_t, out: *mut nvmlPciInfo_t) -> nvmlReturn_t {
    call("nvmlDeviceGetPciInfo_v3", device, |gpu| {
        let bus = gpu.number + 1;
        let usual = format!("00000000:{bus:02X}:00.0");
        let mut bus_id: [c_char; 32] = [0; 32];
        for (to, byte) in bus_id.iter_mut().take(31).zip(gpu.text("pci").unwrap_or(&usual).bytes()) {
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
        // Some drivers return 0 under MIG instead; a script can set that.
        if gpu.instances().is_some() && gpu.setting("utilization").is_none() {
            return Err(nvmlReturn_enum_NVML_ERROR_NOT_SUPPORTED);
        }
        let (of_gpu, of_memory) = (gpu.read("utilization")?, gpu.read("memory_utilization")?);
        // SAFETY: callers keep NVML's contract.
        unsafe { put(out, nvmlUtilization_t { gpu: of_gpu as c_uint, memory: of_memory as c_uint }) }
    })
}

/// Returns total, reserved, free and used bytes. An instance has its share of the total and uses half of it.
fn memory(gpu: &Gpu) -> Result<[c_ulonglong; 4], Code> {
    let read = |name| gpu.read(name).map(|bytes| bytes as c_ulonglong);
    let (total, reserved, used) = (read("memory_total")?, read("memory_reserved")?, read("memory_used")?);
    if gpu.instance == 0 {
        return Ok([total, reserved, total.saturating_sub(reserved + used), used]);
    }
    let share = total / c_ulonglong::from(gpu.instances().unwrap_or(1).max(1));
    let of_instance = |name| gpu.setting(&format!("instance{}.{name}", gpu.instance)).map(|bytes| bytes as c_ulonglong);
    let share = of_instance("memory_total").unwrap_or(share);
    let used = of_instance("memory_used").unwrap_or(share / 2);
    Ok([share, 0, share.saturating_sub(used), used])
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetMemoryInfo(device: nvmlDevice_t, out: *mut nvmlMemory_t) -> nvmlReturn_t {
    call("nvmlDeviceGetMemoryInfo", device, |gpu| {
        let [total, reserved, free, used] = memory(gpu)?;
        // SAFETY: callers keep NVML's contract.
        unsafe { put(out, nvmlMemory_t { total, free, used: used + reserved }) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetMemoryInfo_v2(device: nvmlDevice_t, out: *mut nvmlMemory_v2_t) -> nvmlReturn_t {
    call("nvmlDeviceGetMemoryInfo_v2", device, |gpu| {
        let version = (size_of::<nvmlMemory_v2_t>() | 2 << 24) as c_uint;
        // SAFETY: callers keep NVML's contract: the pointer is null, or callers have set the version.
        if unsafe { out.as_ref() }.is_some_and(|given| given.version != version) {
            return Err(nvmlReturn_enum_NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
        }
        let [total, reserved, free, used] = memory(gpu)?;
        // SAFETY: callers keep NVML's contract.
        unsafe { put(out, nvmlMemory_v2_t { version, total, reserved, free, used }) }
    })
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
