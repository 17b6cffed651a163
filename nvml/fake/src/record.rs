//! Records the answers of a driver as a script for the fake.
//!
//! Only reading calls are made. Data that identifies a GPU or a machine is left out: UUIDs, serial numbers, PCI bus ids and
//! processes.

#![expect(non_upper_case_globals, reason = "the names are those of NVML")]

use std::collections::BTreeSet;
use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_ulonglong};
use std::fmt::Write;
use std::io;
use std::path::Path;
use std::time::Duration;

use nvml_wrapper_sys::bindings::*;

use crate::abi::device::LIMITS;
use crate::abi::fields::{FIELDS, Scope};
use crate::abi::gpm;
use crate::value::Code;

/// The size of text buffers, longer than any text of a driver.
const TEXT: usize = 96;
/// The time between the two GPM samples from which a GPU's activity is computed.
const BETWEEN: Duration = Duration::from_millis(500);
const MOST_INSTANCES: u32 = 8;

/// Makes all queries of the monitor to the NVML library at this path, and returns the answers as a script for
/// [`Fake::replay`](crate::Fake::replay).
///
/// # Errors
/// If the library cannot be loaded or initialized.
pub fn record(library: &Path) -> io::Result<String> {
    // SAFETY: the library is the driver's or the fake; loading either has no other effect.
    let lib = unsafe { NvmlLib::new(OsStr::new(library)) };
    let lib = lib.map_err(|error| io::Error::new(io::ErrorKind::NotFound, error.to_string()))?;
    let mut recorder = Recorder { lib, lacks: BTreeSet::new(), text: String::new() };
    recorder.driver().map_err(|code| io::Error::other(format!("the driver does not begin: NVML returned {code}")))?;
    if let Ok(function) = &recorder.lib.nvmlShutdown {
        // SAFETY: the library was initialized once.
        unsafe { function() };
    }
    let lacks = recorder.lacks.iter().fold(String::new(), |all, name| all + " " + name);
    Ok(format!("lacks ={lacks}\n{}", recorder.text))
}

struct Recorder {
    lib: NvmlLib,
    lacks: BTreeSet<&'static str>,
    text: String,
}

/// Calls a function of the library with these arguments and a pointer to its result, which is initialized with the last
/// expression.
macro_rules! call {
    ($recorder:ident, $function:ident, ($($argument:expr),*), $begin:expr) => {
        match &$recorder.lib.$function {
            Ok(function) => {
                let mut answer = $begin;
                // SAFETY: the types are those of the function, and the answer outlives the call.
                match unsafe { function($($argument,)* &mut answer) } {
                    nvmlReturn_enum_NVML_SUCCESS => Ok(answer),
                    code => Err(code),
                }
            }
            Err(_) => {
                $recorder.lacks.insert(stringify!($function));
                Err(nvmlReturn_enum_NVML_ERROR_FUNCTION_NOT_FOUND)
            }
        }
    };
}

/// Counts processes without listing them.
macro_rules! count {
    ($recorder:ident, $function:ident, $device:ident) => {
        match &$recorder.lib.$function {
            Ok(function) => {
                let mut count = 0;
                // SAFETY: with a count of 0 nothing is written to the list, which may be null then.
                match unsafe { function($device, &mut count, std::ptr::null_mut()) } {
                    nvmlReturn_enum_NVML_SUCCESS | nvmlReturn_enum_NVML_ERROR_INSUFFICIENT_SIZE => Ok(count),
                    code => Err(code),
                }
            }
            Err(_) => {
                $recorder.lacks.insert(stringify!($function));
                Err(nvmlReturn_enum_NVML_ERROR_FUNCTION_NOT_FOUND)
            }
        }
    };
}

impl Recorder {
    fn driver(&mut self) -> Result<(), Code> {
        // SAFETY: the function has no parameters.
        let begun = self
            .lib
            .nvmlInit_v2
            .as_ref()
            .map_or(nvmlReturn_enum_NVML_ERROR_FUNCTION_NOT_FOUND, |function| unsafe { function() });
        if begun != nvmlReturn_enum_NVML_SUCCESS {
            return Err(begun);
        }
        let version = self.text_of(|lib, out, length| {
            // SAFETY: `out` has room for `length` bytes.
            lib.nvmlSystemGetDriverVersion.as_ref().ok().map(|function| unsafe { function(out, length) })
        });
        let count: c_uint = call!(self, nvmlDeviceGetCount_v2, (), 0)?;
        self.line("gpus", count);
        version.iter().for_each(|version| self.line("driver", version));
        for gpu in 0..count {
            let device = call!(self, nvmlDeviceGetHandleByIndex_v2, (gpu), std::ptr::null_mut());
            match device {
                Ok(device) => self.gpu(gpu, device),
                Err(code) => self.line(&format!("gpu{gpu}.fail"), code),
            }
        }
        Ok(())
    }

    fn line(&mut self, key: &str, value: impl std::fmt::Display) {
        // Writing to a `String` does not fail.
        let _ = writeln!(self.text, "{key} = {value}");
    }

    /// Writes a value, or the code of its failure; writes nothing if the library lacks the function.
    fn value<T: std::fmt::Display>(&mut self, gpu: u32, name: &str, answer: Result<T, Code>) {
        match answer {
            Ok(value) => self.line(&format!("gpu{gpu}.{name}"), value),
            Err(nvmlReturn_enum_NVML_ERROR_FUNCTION_NOT_FOUND) => {}
            Err(code) => self.line(&format!("gpu{gpu}.fail.{name}"), code),
        }
    }

    fn text_of(&self, fill: impl FnOnce(&NvmlLib, *mut c_char, c_uint) -> Option<nvmlReturn_t>) -> Option<String> {
        let mut bytes: [c_char; TEXT] = [0; TEXT];
        let code = fill(&self.lib, bytes.as_mut_ptr(), TEXT as c_uint - 1)?;
        // SAFETY: the last byte is zero, because the library was given a length of one less.
        let text = unsafe { CStr::from_ptr(bytes.as_ptr()) };
        (code == nvmlReturn_enum_NVML_SUCCESS).then(|| text.to_string_lossy().into_owned())
    }

    fn name(&self, device: nvmlDevice_t) -> Option<String> {
        self.text_of(|lib, out, length| {
            // SAFETY: `out` has room for `length` bytes.
            lib.nvmlDeviceGetName.as_ref().ok().map(|function| unsafe { function(device, out, length) })
        })
    }

    fn gpu(&mut self, gpu: u32, device: nvmlDevice_t) {
        self.name(device).iter().for_each(|name| self.line(&format!("gpu{gpu}.name"), name));
        self.readings(gpu, device);
        self.versions(gpu, device);
        self.pairs(gpu, device);
        self.wear(gpu, device);
        self.fields(gpu, device);
        self.instances(gpu, device);
        self.activity(gpu, device);
    }

    /// Records functions that return one number.
    fn readings(&mut self, gpu: u32, device: nvmlDevice_t) {
        /// Each line has the name of the value, the function and its further argument.
        macro_rules! readings {
            ($($name:literal = $function:ident($($argument:expr),*): $type:ty;)+) => {$(
                let answer = call!(self, $function, (device $(, $argument)*), <$type>::default());
                self.value(gpu, $name, answer);
            )+};
        }
        readings! {
            "power" = nvmlDeviceGetPowerUsage(): c_uint;
            "power_limit" = nvmlDeviceGetEnforcedPowerLimit(): c_uint;
            "energy" = nvmlDeviceGetTotalEnergyConsumption(): c_ulonglong;
            "clock_sm" = nvmlDeviceGetClockInfo(nvmlClockType_enum_NVML_CLOCK_SM): c_uint;
            "clock_memory" = nvmlDeviceGetClockInfo(nvmlClockType_enum_NVML_CLOCK_MEM): c_uint;
            "replays" = nvmlDeviceGetPcieReplayCounter(): c_uint;
            "pcie_sent" = nvmlDeviceGetPcieThroughput(nvmlPcieUtilCounter_enum_NVML_PCIE_UTIL_TX_BYTES): c_uint;
            "pcie_received" = nvmlDeviceGetPcieThroughput(nvmlPcieUtilCounter_enum_NVML_PCIE_UTIL_RX_BYTES): c_uint;
            "performance_state" = nvmlDeviceGetPerformanceState(): nvmlPstates_t;
            "link_generation" = nvmlDeviceGetCurrPcieLinkGeneration(): c_uint;
            "link_width" = nvmlDeviceGetCurrPcieLinkWidth(): c_uint;
        }
        for (limit, name) in LIMITS {
            let answer = call!(self, nvmlDeviceGetTemperatureThreshold, (device, limit), 0);
            self.value(gpu, name, answer);
        }
        for (lifetime, of) in [
            (nvmlEccCounterType_enum_NVML_VOLATILE_ECC, ""),
            (nvmlEccCounterType_enum_NVML_AGGREGATE_ECC, "aggregate_"),
        ] {
            for (error, kind) in [
                (nvmlMemoryErrorType_enum_NVML_MEMORY_ERROR_TYPE_CORRECTED, "corrected"),
                (nvmlMemoryErrorType_enum_NVML_MEMORY_ERROR_TYPE_UNCORRECTED, "uncorrected"),
            ] {
                let answer = call!(self, nvmlDeviceGetTotalEccErrors, (device, error, lifetime), 0);
                self.value(gpu, &format!("ecc_{of}{kind}"), answer);
            }
        }
    }

    /// Records values that several functions return, of which a driver has some.
    fn versions(&mut self, gpu: u32, device: nvmlDevice_t) {
        let older =
            call!(self, nvmlDeviceGetTemperature, (device, nvmlTemperatureSensors_enum_NVML_TEMPERATURE_GPU), 0);
        let asked = nvmlTemperature_t {
            version: (size_of::<nvmlTemperature_v1_t>() | 1 << 24) as c_uint,
            sensorType: nvmlTemperatureSensors_enum_NVML_TEMPERATURE_GPU,
            temperature: 0,
        };
        let newer = call!(self, nvmlDeviceGetTemperatureV, (device), asked).map(|answer| answer.temperature as c_uint);
        self.value(gpu, "temperature", either(older, newer));
        let older = call!(self, nvmlDeviceGetCurrentClocksThrottleReasons, (device), 0);
        let newer = call!(self, nvmlDeviceGetCurrentClocksEventReasons, (device), 0);
        self.value(gpu, "throttle", either(older, newer));
        let older = call!(self, nvmlDeviceGetFanSpeed, (device), 0);
        let newer = call!(self, nvmlDeviceGetFanSpeed_v2, (device, 0), 0);
        self.value(gpu, "fan", either(newer, older));
        let mut counts = [
            count!(self, nvmlDeviceGetComputeRunningProcesses_v3, device),
            count!(self, nvmlDeviceGetComputeRunningProcesses_v2, device),
            count!(self, nvmlDeviceGetComputeRunningProcesses, device),
        ]
        .into_iter();
        let first = counts.find(|answer| *answer != Err(nvmlReturn_enum_NVML_ERROR_FUNCTION_NOT_FOUND));
        first.into_iter().for_each(|answer| self.value(gpu, "processes", answer));
        self.memory(gpu, device, "");
    }

    /// Records the memory of a GPU or of an instance.
    fn memory(&mut self, gpu: u32, device: nvmlDevice_t, of: &str) {
        let begin = nvmlMemory_v2_t {
            version: (size_of::<nvmlMemory_v2_t>() | 2 << 24) as c_uint,
            total: 0,
            reserved: 0,
            free: 0,
            used: 0,
        };
        let newer = call!(self, nvmlDeviceGetMemoryInfo_v2, (device), begin).map(|it| [it.total, it.used, it.reserved]);
        let older = call!(self, nvmlDeviceGetMemoryInfo, (device), nvmlMemory_t { total: 0, free: 0, used: 0 });
        match either(newer, older.map(|it| [it.total, it.used, 0])) {
            Ok(bytes) => {
                for (name, bytes) in ["total", "used", "reserved"].into_iter().zip(bytes) {
                    self.value(gpu, &format!("{of}memory_{name}"), Ok(bytes));
                }
            }
            Err(code) => self.value::<u64>(gpu, &format!("{of}memory_total"), Err(code)),
        }
    }

    /// Records functions that return several numbers.
    fn pairs(&mut self, gpu: u32, device: nvmlDevice_t) {
        let rates = call!(self, nvmlDeviceGetUtilizationRates, (device), nvmlUtilization_t { gpu: 0, memory: 0 });
        self.value(gpu, "utilization", rates.map(|rates| rates.gpu));
        self.value(gpu, "memory_utilization", rates.map(|rates| rates.memory));
        let (mut encoder, mut decoder) = (0, 0);
        let period = call!(self, nvmlDeviceGetEncoderUtilization, (device, &mut encoder), 0);
        self.value(gpu, "encoder", period.map(|_| encoder));
        let period = call!(self, nvmlDeviceGetDecoderUtilization, (device, &mut decoder), 0);
        self.value(gpu, "decoder", period.map(|_| decoder));
    }

    fn wear(&mut self, gpu: u32, device: nvmlDevice_t) {
        // SAFETY: all members are integers, for which zero is valid.
        let mut begin: nvmlEccSramErrorStatus_v1_t = unsafe { std::mem::zeroed() };
        begin.version = (size_of::<nvmlEccSramErrorStatus_v1_t>() | 1 << 24) as c_uint;
        match call!(self, nvmlDeviceGetSramEccErrorStatus, (device), begin) {
            Ok(status) => {
                let uncorrected = status.volatileUncParity + status.volatileUncSecDed;
                let aggregate = status.aggregateUncParity + status.aggregateUncSecDed;
                self.value(gpu, "sram_corrected", Ok(status.volatileCor));
                self.value(gpu, "sram_uncorrected", Ok(uncorrected));
                self.value(gpu, "sram_aggregate_corrected", Ok(status.aggregateCor));
                self.value(gpu, "sram_aggregate_uncorrected", Ok(aggregate));
                self.value(gpu, "sram_exceeded", Ok(status.bThresholdExceeded));
            }
            Err(code) => self.value::<u64>(gpu, "sram_corrected", Err(code)),
        }
    }

    fn fields(&mut self, gpu: u32, device: nvmlDevice_t) {
        let count = self.field(device, field_id::NVML_FI_DEV_NVLINK_LINK_COUNT, 0).map_or(0, |value| value.0);
        for field in FIELDS {
            let links = if field.scope == Scope::Link { count } else { 1 };
            for link in 0..links {
                let (scope, name) = match field.scope {
                    Scope::Gpu => (0, field.name.to_owned()),
                    Scope::AllLinks => (c_uint::MAX, field.name.to_owned()),
                    Scope::Link => (link as c_uint, format!("{}.{link}", field.name)),
                };
                let answer = self.field(device, field.id, scope);
                self.value(gpu, &name, answer.map(|(value, _)| value));
                if answer.is_ok_and(|(_, is_long)| field.is_long && !is_long) {
                    self.line(&format!("gpu{gpu}.short.{}", field.name), 1);
                }
            }
        }
    }

    /// Queries a field, and returns its value and whether it has 64 bits.
    fn field(&mut self, device: nvmlDevice_t, id: c_uint, scope: c_uint) -> Result<(u64, bool), Code> {
        let begin = nvmlFieldValue_t {
            fieldId: id,
            scopeId: scope,
            timestamp: 0,
            latencyUsec: 0,
            valueType: 0,
            nvmlReturn: nvmlReturn_enum_NVML_ERROR_UNKNOWN,
            value: nvmlValue_t { ullVal: 0 },
        };
        let one: c_int = 1;
        let answer = call!(self, nvmlDeviceGetFieldValues, (device, one), begin)?;
        if answer.nvmlReturn != nvmlReturn_enum_NVML_SUCCESS {
            return Err(answer.nvmlReturn);
        }
        // SAFETY: the union was zeroed and the library wrote an integer of the given type; every bit pattern is valid.
        let (long, short) = unsafe { (answer.value.ullVal, answer.value.uiVal) };
        let is_short = answer.valueType == nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_INT;
        Ok(if is_short { (u64::from(short), false) } else { (long, true) })
    }

    fn instances(&mut self, gpu: u32, device: nvmlDevice_t) {
        let mut current = 0;
        let pending = call!(self, nvmlDeviceGetMigMode, (device, &mut current), 0);
        if let Err(code) = pending {
            self.value::<u32>(gpu, "nvmlDeviceGetMigMode", Err(code));
        }
        if pending.is_err() || current == 0 {
            return;
        }
        let instances: Vec<_> = (0..MOST_INSTANCES)
            .map_while(|index| {
                call!(self, nvmlDeviceGetMigDeviceHandleByIndex, (device, index), std::ptr::null_mut()).ok()
            })
            .collect();
        self.line(&format!("gpu{gpu}.mig"), instances.len());
        for (number, instance) in (1..).zip(instances) {
            let name = self.name(instance).unwrap_or_default();
            if let Some((_, profile)) = name.rsplit_once("MIG ") {
                self.line(&format!("gpu{gpu}.instance{number}.profile"), profile);
            }
            self.memory(gpu, instance, &format!("instance{number}."));
        }
    }

    /// Records the activity of parts of the GPU between two samples.
    fn activity(&mut self, gpu: u32, device: nvmlDevice_t) {
        let mut samples = Vec::new();
        let measured = self.measure(device, &mut samples);
        for sample in samples {
            if let Ok(function) = &self.lib.nvmlGpmSampleFree {
                // SAFETY: the sample was allocated by this library and is freed once.
                unsafe { function(sample) };
            }
        }
        match measured {
            Ok(metrics) => {
                for ((_, name), metric) in gpm::NAMES.into_iter().zip(metrics) {
                    self.value(gpu, name, metric);
                }
            }
            Err(code) => self.value::<f64>(gpu, "nvmlGpmSampleGet", Err(code)),
        }
    }

    fn measure(
        &mut self,
        device: nvmlDevice_t,
        samples: &mut Vec<nvmlGpmSample_t>,
    ) -> Result<Vec<Result<f64, Code>>, Code> {
        for pause in [Duration::ZERO, BETWEEN] {
            std::thread::sleep(pause);
            let sample = call!(self, nvmlGpmSampleAlloc, (), std::ptr::null_mut())?;
            samples.push(sample);
            let function =
                self.lib.nvmlGpmSampleGet.as_ref().map_err(|_| nvmlReturn_enum_NVML_ERROR_FUNCTION_NOT_FOUND)?;
            // SAFETY: device and sample are of this library.
            let code = unsafe { function(device, sample) };
            if code != nvmlReturn_enum_NVML_SUCCESS {
                return Err(code);
            }
        }
        // SAFETY: all members are integers and pointers, for which zero is valid.
        let mut request: nvmlGpmMetricsGet_t = unsafe { std::mem::zeroed() };
        (request.version, request.numMetrics) = (NVML_GPM_METRICS_GET_VERSION, gpm::NAMES.len() as c_uint);
        (request.sample1, request.sample2) = (samples[0], samples[1]);
        for (metric, (id, _)) in request.metrics.iter_mut().zip(gpm::NAMES) {
            metric.metricId = id;
        }
        let answer = call!(self, nvmlGpmMetricsGet, (), request)?;
        let value = |metric: &nvmlGpmMetric_t| match metric.nvmlReturn {
            nvmlReturn_enum_NVML_SUCCESS => Ok(metric.value),
            code => Err(code),
        };
        Ok(answer.metrics.iter().take(gpm::NAMES.len()).map(value).collect())
    }
}

/// Returns the answer of one of two functions; if both fail, the error of the function that the library has.
fn either<T>(first: Result<T, Code>, second: Result<T, Code>) -> Result<T, Code> {
    match (first, second) {
        (Ok(answer), _) | (_, Ok(answer)) => Ok(answer),
        (Err(nvmlReturn_enum_NVML_ERROR_FUNCTION_NOT_FOUND), second) => second,
        (first, _) => first,
    }
}
