//! Field values: values that are queried by number, several per call.

use std::ffi::{c_int, c_uint, c_ulonglong};

use nvml_wrapper_sys::bindings::field_id::*;
use nvml_wrapper_sys::bindings::*;

use super::call;
use crate::value::Gpu;

/// A field of NVML.
pub(crate) struct Field {
    pub(crate) id: c_uint,
    pub(crate) name: &'static str,
    /// Whether the value has 64 bits.
    pub(crate) is_long: bool,
    pub(crate) scope: Scope,
}

/// The scope of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Gpu,
    /// All links together.
    AllLinks,
    /// One link.
    Link,
}

const fn field(id: c_uint, name: &'static str, is_long: bool, scope: Scope) -> Field {
    Field { id, name, is_long, scope }
}

pub(crate) const FIELDS: &[Field] = &[
    field(NVML_FI_DEV_MEMORY_TEMP, "memory_temperature", false, Scope::Gpu),
    field(NVML_FI_DEV_REMAPPED_COR, "remapped_correctable", false, Scope::Gpu),
    field(NVML_FI_DEV_REMAPPED_UNC, "remapped_uncorrectable", false, Scope::Gpu),
    field(NVML_FI_DEV_REMAPPED_PENDING, "remapped_pending", false, Scope::Gpu),
    field(NVML_FI_DEV_REMAPPED_FAILURE, "remapped_failure", false, Scope::Gpu),
    field(NVML_FI_DEV_RETIRED_SBE, "retired_single", false, Scope::Gpu),
    field(NVML_FI_DEV_RETIRED_DBE, "retired_double", false, Scope::Gpu),
    field(NVML_FI_DEV_RETIRED_PENDING, "retired_pending", false, Scope::Gpu),
    field(NVML_FI_DEV_GET_GPU_RECOVERY_ACTION, "recovery_action", false, Scope::Gpu),
    field(NVML_FI_DEV_PERF_POLICY_POWER, "violation_power", true, Scope::Gpu),
    field(NVML_FI_DEV_PERF_POLICY_THERMAL, "violation_thermal", true, Scope::Gpu),
    field(NVML_FI_DEV_PERF_POLICY_SYNC_BOOST, "violation_sync_boost", true, Scope::Gpu),
    field(NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT, "violation_board_limit", true, Scope::Gpu),
    field(NVML_FI_DEV_PERF_POLICY_LOW_UTILIZATION, "violation_low_utilization", true, Scope::Gpu),
    field(NVML_FI_DEV_PERF_POLICY_RELIABILITY, "violation_reliability", true, Scope::Gpu),
    field(NVML_FI_DEV_PCIE_COUNT_TX_BYTES, "pcie_bytes_sent", true, Scope::Gpu),
    field(NVML_FI_DEV_PCIE_COUNT_RX_BYTES, "pcie_bytes_received", true, Scope::Gpu),
    field(NVML_FI_DEV_NVLINK_LINK_COUNT, "nvlink_count", false, Scope::Gpu),
    field(NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, "nvlink_sent", true, Scope::AllLinks),
    field(NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, "nvlink_received", true, Scope::AllLinks),
    field(NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL, "nvlink_crc_flit", true, Scope::Gpu),
    field(NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL, "nvlink_crc_data", true, Scope::Gpu),
    field(NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL, "nvlink_replay", true, Scope::Gpu),
    field(NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL, "nvlink_recovery", true, Scope::Gpu),
    field(NVML_FI_DEV_NVLINK_GET_STATE, "link_state", false, Scope::Link),
    field(NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY, "link_replay", true, Scope::Link),
    field(NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY, "link_recovery", true, Scope::Link),
    field(NVML_FI_DEV_NVLINK_ERROR_DL_CRC, "link_crc", true, Scope::Link),
    field(NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS, "link_receive", true, Scope::Link),
    field(NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS, "link_recovery_events", true, Scope::Link),
    field(NVML_FI_DEV_NVLINK_COUNT_SYMBOL_ERRORS, "link_symbol", true, Scope::Link),
];

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
        // SAFETY: callers keep NVML's contract: `values` points to `count` values, with their ids set.
        let values = unsafe { std::slice::from_raw_parts_mut(values, count as usize) };
        values.iter_mut().for_each(|value| fill(gpu, value));
        Ok(())
    })
}

fn fill(gpu: &Gpu, value: &mut nvmlFieldValue_t) {
    let is_of = |scope| match scope {
        Scope::Gpu => true,
        Scope::AllLinks => value.scopeId == c_uint::MAX,
        Scope::Link => f64::from(value.scopeId) < gpu.value("nvlink_count"),
    };
    let Some(field) = FIELDS.iter().find(|field| field.id == value.fieldId && is_of(field.scope)) else {
        value.nvmlReturn = nvmlReturn_enum_NVML_ERROR_NOT_SUPPORTED;
        return;
    };
    let link = (field.scope == Scope::Link).then_some(value.scopeId);
    // The counters of links differ before and from Blackwell on: a field without a value is unsupported.
    let unknown = (!gpu.knows(field.name, link)).then_some(nvmlReturn_enum_NVML_ERROR_NOT_SUPPORTED);
    value.nvmlReturn = gpu.failure_of(field.name, link).or(unknown).unwrap_or(nvmlReturn_enum_NVML_SUCCESS);
    let number = gpu.value_of(field.name, link);
    let is_short = !field.is_long || gpu.setting(&format!("short.{}", field.name)).is_some();
    (value.valueType, value.value) = if is_short {
        (nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_INT, nvmlValue_t { uiVal: number as c_uint })
    } else {
        (nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_LONG_LONG, nvmlValue_t { ullVal: number as c_ulonglong })
    };
}
