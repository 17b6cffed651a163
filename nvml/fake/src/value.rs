//! The GPUs of the script and their values: those of the script, else plausible values that change over time.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use nvml_wrapper_sys::bindings::*;

use crate::script::Script;

/// The code that a call returns instead of success.
pub(crate) type Code = nvmlReturn_t;

/// A named default value, computed from the number of the GPU and the seconds since the start.
type Default = (&'static str, fn(f64, f64) -> f64);

/// The names of values and their defaults. Units are NVML's.
const DEFAULTS: &[Default] = &[
    ("utilization", |gpu, t| wave(t + gpu, 20.0, 95.0)),
    ("memory_utilization", |gpu, t| wave(t + gpu, 10.0, 60.0)),
    ("memory_total", |_, _| 80.0 * GIB),
    ("memory_used", |gpu, t| wave(t + gpu, 30.0, 50.0).floor() * GIB),
    ("memory_reserved", |_, _| 0.5 * GIB),
    ("temperature", |gpu, t| wave(t + gpu, 45.0, 70.0)),
    ("memory_temperature", |gpu, t| wave(t + gpu, 50.0, 80.0)),
    ("power", |gpu, t| wave(t + gpu, 120_000.0, 400_000.0)),
    ("power_limit", |_, _| 700_000.0),
    ("energy", |gpu, t| 1_000_000.0 + (gpu + 1.0) * 250_000.0 * t),
    ("clock_sm", |gpu, t| wave(t + gpu, 1200.0, 1980.0)),
    ("clock_memory", |_, _| 2619.0),
    ("throttle", |_, _| 0.0),
    ("ecc_corrected", |_, t| (t / 60.0).floor()),
    ("ecc_uncorrected", |_, _| 0.0),
    ("ecc_aggregate_corrected", |_, t| 100.0 + (t / 60.0).floor()),
    ("ecc_aggregate_uncorrected", |_, _| 0.0),
    ("sram_corrected", |_, _| 0.0),
    ("sram_uncorrected", |_, _| 0.0),
    ("sram_aggregate_corrected", |_, _| 0.0),
    ("sram_aggregate_uncorrected", |_, _| 0.0),
    ("sram_exceeded", |_, _| 0.0),
    ("retired_single", |_, _| 0.0),
    ("retired_double", |_, _| 0.0),
    ("retired_pending", |_, _| 0.0),
    ("recovery_action", |_, _| 0.0),
    ("violation_power", |_, t| (t * 5e7).floor()),
    ("violation_thermal", |_, _| 0.0),
    ("violation_sync_boost", |_, _| 0.0),
    ("violation_board_limit", |_, _| 0.0),
    ("violation_low_utilization", |_, _| 0.0),
    ("violation_reliability", |_, _| 0.0),
    ("limit_shutdown", |_, _| 92.0),
    ("limit_slowdown", |_, _| 89.0),
    ("limit_memory", |_, _| 95.0),
    ("limit_gpu", |_, _| 87.0),
    ("pcie_bytes_sent", |_, t| (t * 3e6).floor()),
    ("pcie_bytes_received", |_, t| (t * 2e6).floor()),
    ("remapped_correctable", |_, _| 0.0),
    ("remapped_uncorrectable", |_, _| 0.0),
    ("remapped_pending", |_, _| 0.0),
    ("remapped_failure", |_, _| 0.0),
    ("replays", |_, t| (t / 30.0).floor()),
    ("processes", |_, _| 1.0),
    ("pcie_sent", |gpu, t| wave(t + gpu, 1e3, 2e6)),
    ("encoder", |_, _| 0.0),
    ("decoder", |_, _| 0.0),
    ("fan", |gpu, t| wave(t + gpu, 30.0, 60.0)),
    ("performance_state", |_, _| 0.0),
    ("link_generation", |_, _| 5.0),
    ("link_width", |_, _| 16.0),
    ("pcie_received", |gpu, t| wave(t + gpu, 1e3, 2e6)),
    ("nvlink_count", |_, _| 18.0),
    ("nvlink_sent", |_, t| (t * 4e6).floor()),
    ("nvlink_received", |_, t| (t * 5e6).floor()),
    ("nvlink_crc_flit", |_, _| 0.0),
    ("nvlink_crc_data", |_, _| 0.0),
    ("nvlink_replay", |_, _| 0.0),
    ("nvlink_recovery", |_, _| 0.0),
    ("link_state", |_, _| 1.0),
    ("link_replay", |_, _| 0.0),
    ("link_recovery", |_, _| 0.0),
    ("link_crc", |_, _| 0.0),
    ("active_graphics", |gpu, t| wave(t + gpu, 20.0, 95.0)),
    ("active_sm", |gpu, t| wave(t + gpu, 15.0, 90.0)),
    ("active_occupancy", |gpu, t| wave(t + gpu, 10.0, 60.0)),
    ("active_tensor", |gpu, t| wave(t + gpu, 5.0, 70.0)),
    ("active_dram", |gpu, t| wave(t + gpu, 10.0, 80.0)),
    ("active_fp64", |_, _| 0.0),
    ("active_fp32", |gpu, t| wave(t + gpu, 5.0, 30.0)),
    ("active_fp16", |gpu, t| wave(t + gpu, 5.0, 40.0)),
];

const GIB: f64 = 1_073_741_824.0;

/// Oscillates between two values, once a minute.
fn wave(seconds: f64, low: f64, high: f64) -> f64 {
    low + (high - low) * (0.5 + 0.5 * (seconds * std::f64::consts::TAU / 60.0).sin())
}

fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// The content of a handle, which is encoded in the bits of a pointer that is never dereferenced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle {
    generation: u32,
    pub(crate) gpu: u32,
    /// The number of the MIG instance, from 1; 0 is the GPU itself.
    instance: u32,
}

impl Handle {
    pub(crate) fn of(script: &Script, gpu: u32, instance: u32) -> Self {
        Handle { generation: script.generation(), gpu, instance }
    }

    pub(crate) fn pointer(self) -> nvmlDevice_t {
        let bits = ((self.generation as usize) << 16) | ((self.instance as usize) << 8) | (self.gpu as usize + 1);
        std::ptr::without_provenance_mut(bits)
    }

    /// Decodes a handle of any generation.
    fn read(pointer: nvmlDevice_t) -> Result<Self, Code> {
        let bits = pointer.addr();
        let gpu = (bits & 0xff).checked_sub(1).ok_or(nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT)? as u32;
        Ok(Handle { generation: (bits >> 16) as u32, gpu, instance: (bits >> 8 & 0xff) as u32 })
    }
}

/// A GPU, or an instance of one, during one call.
pub(crate) struct Gpu {
    pub(crate) script: Script,
    pub(crate) number: u32,
    pub(crate) instance: u32,
}

impl Gpu {
    /// Begins a call for the GPU of a handle; hangs or fails as the script demands.
    pub(crate) fn enter(pointer: nvmlDevice_t, function: &str) -> Result<Self, Code> {
        let handle = Handle::read(pointer)?;
        hang(&format!("gpu{}.hang", handle.gpu));
        let script = Script::now();
        if handle.generation != script.generation() {
            return Err(nvmlReturn_enum_NVML_ERROR_UNINITIALIZED);
        }
        if handle.gpu >= script.gpus() {
            return Err(nvmlReturn_enum_NVML_ERROR_GPU_IS_LOST);
        }
        let gpu = Gpu { script, number: handle.gpu, instance: handle.instance };
        let code = gpu.setting("fail").or_else(|| gpu.setting(&format!("fail.{function}")));
        code.map_or(Ok(gpu), |code| Err(code as Code))
    }

    /// Returns a number that the script sets for this GPU.
    pub(crate) fn setting(&self, name: &str) -> Option<f64> {
        self.script.number(&format!("gpu{}.{name}", self.number))
    }

    /// Returns a value of the script, else that of [`DEFAULTS`].
    pub(crate) fn value(&self, name: &str) -> f64 {
        self.setting(name).unwrap_or_else(|| {
            let default = DEFAULTS.iter().find(|(known, _)| *known == name);
            default.map_or(0.0, |(_, value)| value(f64::from(self.number), seconds()))
        })
    }

    /// Returns a value, or the code with which it fails according to the script: `gpu0.fail.temperature = 3`.
    pub(crate) fn read(&self, name: &str) -> Result<f64, Code> {
        self.failure_of(name, None).map_or_else(|| Ok(self.value(name)), Err)
    }

    /// Returns a value of one part of the GPU, such as a link: `gpu0.link_state.3`, else `gpu0.link_state`.
    pub(crate) fn value_of(&self, name: &str, part: Option<u32>) -> f64 {
        part.and_then(|part| self.setting(&format!("{name}.{part}"))).unwrap_or_else(|| self.value(name))
    }

    /// Returns whether the script sets the value, or the value has a default.
    pub(crate) fn knows(&self, name: &str, part: Option<u32>) -> bool {
        let is_given = part.is_some_and(|part| self.setting(&format!("{name}.{part}")).is_some());
        is_given || self.setting(name).is_some() || DEFAULTS.iter().any(|(known, _)| *known == name)
    }

    /// Returns the code with which the value fails, if the script sets one.
    pub(crate) fn failure_of(&self, name: &str, part: Option<u32>) -> Option<Code> {
        let of_part = part.and_then(|part| self.setting(&format!("fail.{name}.{part}")));
        of_part.or_else(|| self.setting(&format!("fail.{name}"))).map(|code| code as Code)
    }

    /// Returns a text that the script sets for this GPU.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.script.text(&format!("gpu{}.{name}", self.number))
    }

    /// Returns the number of MIG instances, if MIG is on.
    pub(crate) fn instances(&self) -> Option<u32> {
        self.setting("mig").map(|count| count as u32)
    }
}

/// Sleeps for the number of seconds that the script sets for `key`, if any. A change of the script applies at once.
pub(crate) fn hang(key: &str) {
    let start = Instant::now();
    while Script::now().number(key).is_some_and(|seconds| start.elapsed().as_secs_f64() < seconds) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_keeps_its_numbers() {
        let handle = Handle { generation: 3, gpu: 15, instance: 7 };
        assert_eq!(Handle::read(handle.pointer()), Ok(handle));
        assert_eq!(Handle::read(std::ptr::null_mut()), Err(nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT));
    }
}
