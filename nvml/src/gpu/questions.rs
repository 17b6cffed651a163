//! The queries of a sample.

use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{
    Clock, EccCounter, MemoryError, PcieUtilCounter, TemperatureSensor, TemperatureThreshold,
};
use nvml_wrapper::enums::gpm::GpmMetricId;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::gpm::gpm_metrics_get;
use nvml_wrapper::sys_exports::field_id::*;
use nvml_wrapper::{Device, GpmSample};

use crate::gpu::asker::{Ask, Asker};
use crate::gpu::fault::Fault;
use crate::gpu::raw::{self, Field};
use crate::gpu::sample::{
    Activity, Details, Instance, LIMITS, LINK_ERRORS, Link, Links, Memory, ONE_LINK_ERRORS, PARTS, Sample, VIOLATIONS,
    Wear,
};

/// The slowest performance state. The driver returns 32 if the state is unknown.
const SLOWEST_STATE: u32 = 15;

/// The queried fields: the memory temperature; remapped rows; retired pages by cause, and whether a retirement is
/// pending; the recovery action; the time of lowered clocks in the order of `labels::Violation`; bytes over PCIe.
const FIELDS: [Field; 17] = [
    (NVML_FI_DEV_MEMORY_TEMP, 0),
    (NVML_FI_DEV_REMAPPED_COR, 0),
    (NVML_FI_DEV_REMAPPED_UNC, 0),
    (NVML_FI_DEV_REMAPPED_PENDING, 0),
    (NVML_FI_DEV_REMAPPED_FAILURE, 0),
    (NVML_FI_DEV_RETIRED_SBE, 0),
    (NVML_FI_DEV_RETIRED_DBE, 0),
    (NVML_FI_DEV_RETIRED_PENDING, 0),
    (NVML_FI_DEV_GET_GPU_RECOVERY_ACTION, 0),
    (NVML_FI_DEV_PERF_POLICY_POWER, 0),
    (NVML_FI_DEV_PERF_POLICY_THERMAL, 0),
    (NVML_FI_DEV_PERF_POLICY_SYNC_BOOST, 0),
    (NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT, 0),
    (NVML_FI_DEV_PERF_POLICY_LOW_UTILIZATION, 0),
    (NVML_FI_DEV_PERF_POLICY_RELIABILITY, 0),
    (NVML_FI_DEV_PCIE_COUNT_TX_BYTES, 0),
    (NVML_FI_DEV_PCIE_COUNT_RX_BYTES, 0),
];

/// The scope of all links together.
const ALL_LINKS: u32 = u32::MAX;
/// The fields of all links together: the number of links, the data sent and received, and the errors by kind.
const LINK_FIELDS: [Field; 3 + LINK_ERRORS] = [
    (NVML_FI_DEV_NVLINK_LINK_COUNT, 0),
    (NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, ALL_LINKS),
    (NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, ALL_LINKS),
    (NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL, 0),
    (NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL, 0),
    (NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL, 0),
    (NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL, 0),
];

/// The fields of one link: its state, and its errors in the order of `publish::ONE_LINK_FAULTS`.
const ONE_LINK_FIELDS: [u32; 1 + ONE_LINK_ERRORS] = [
    NVML_FI_DEV_NVLINK_GET_STATE,
    NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY,
    NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY,
    NVML_FI_DEV_NVLINK_ERROR_DL_CRC,
    NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS,
    NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS,
    NVML_FI_DEV_NVLINK_COUNT_SYMBOL_ERRORS,
];

/// The temperature thresholds, in the order of `labels::Limit`.
const THRESHOLDS: [TemperatureThreshold; LIMITS] = [
    TemperatureThreshold::Shutdown,
    TemperatureThreshold::Slowdown,
    TemperatureThreshold::MemoryMax,
    TemperatureThreshold::GpuMax,
];

/// The GPM metrics, in the order of `publish::PARTS`.
const ACTIVITY: [GpmMetricId; PARTS] = [
    GpmMetricId::GraphicsUtil,
    GpmMetricId::SmUtil,
    GpmMetricId::SmOccupancy,
    GpmMetricId::AnyTensorUtil,
    GpmMetricId::DramBwUtil,
    GpmMetricId::Fp64Util,
    GpmMetricId::Fp32Util,
    GpmMetricId::Fp16Util,
];

impl<'a> Asker<'a> {
    /// Takes a sample; an error if the driver's handles are invalid, or if no query succeeded and at least one failed.
    pub(crate) fn sample(&mut self) -> Result<Sample, Fault> {
        self.begin();
        let sample = self.everything()?;
        self.failure().map_or(Ok(sample), Err)
    }

    fn everything(&mut self) -> Result<Sample, Fault> {
        let mut sample = Sample {
            utilization: self.ask(Ask::Utilization, |gpu| gpu.utilization_rates())?.map(|of| (of.gpu, of.memory)),
            encoder: self.ask(Ask::Encoder, |gpu| gpu.encoder_utilization())?.map(|of| of.utilization),
            decoder: self.ask(Ask::Decoder, |gpu| gpu.decoder_utilization())?.map(|of| of.utilization),
            memory: self.ask_either(Ask::Memory, memory, older_memory)?,
            temperature: self.ask_either(Ask::Temperature, temperature, |gpu| raw::temperature(gpu))?,
            temperature_limits: self.temperature_limits(),
            power: self.ask(Ask::Power, |gpu| gpu.power_usage())?,
            power_limit: self.ask(Ask::PowerLimit, |gpu| gpu.enforced_power_limit())?,
            energy: self.ask(Ask::Energy, |gpu| gpu.total_energy_consumption())?,
            clock_sm: self.ask(Ask::ClockSm, |gpu| gpu.clock_info(Clock::SM))?,
            clock_memory: self.ask(Ask::ClockMemory, |gpu| gpu.clock_info(Clock::Memory))?,
            throttle: self.ask_either(Ask::Throttle, |gpu| gpu.current_throttle_reasons(), newer_reasons)?,
            wear: self.wear()?,
            replays: self.ask(Ask::Replays, |gpu| gpu.pcie_replay_counter())?,
            ..Sample::default()
        };
        if let Some((count, own_memory)) = self.ask(Ask::Processes, |gpu| raw::processes(gpu))? {
            (sample.processes, sample.own_memory) = (Some(count), own_memory);
        }
        self.fields(&mut sample)?;
        self.instances(&mut sample)?;
        self.options(&mut sample)?;
        Ok(sample)
    }

    /// Makes the queries that `Config` can switch on or off, if they are on.
    fn options(&mut self, sample: &mut Sample) -> Result<(), Fault> {
        if self.config.details {
            sample.details = self.details()?;
        }
        if self.config.nvlink {
            sample.links = self.links()?;
        }
        if self.config.activity {
            sample.activity = self.activity()?;
        }
        // If the driver counts bytes, their rate is not needed.
        if self.config.pcie_throughput && sample.pcie_bytes.iter().any(Option::is_none) {
            let sent = self.ask(Ask::Sent, |gpu| gpu.pcie_throughput(PcieUtilCounter::Send))?;
            let received = self.ask(Ask::Received, |gpu| gpu.pcie_throughput(PcieUtilCounter::Receive))?;
            sample.throughput = [sent, received];
        }
        Ok(())
    }

    fn details(&mut self) -> Result<Details, Fault> {
        let state = self.ask(Ask::PerformanceState, |gpu| gpu.performance_state())?.map(|state| state.as_c());
        Ok(Details {
            fan: self.ask_either(Ask::Fan, |gpu| gpu.fan_speed(0), |gpu| raw::fan_speed(gpu))?,
            performance_state: state.filter(|state| *state <= SLOWEST_STATE),
            link_generation: self.ask(Ask::LinkGeneration, |gpu| gpu.current_pcie_link_gen())?,
            link_width: self.ask(Ask::LinkWidth, |gpu| gpu.current_pcie_link_width())?,
        })
    }

    /// Queries the temperature thresholds. Errors are ignored, because not every GPU has all of them.
    fn temperature_limits(&mut self) -> [Option<u32>; LIMITS] {
        let device = self.device;
        *self.limits.get_or_insert_with(|| THRESHOLDS.map(|threshold| device.temperature_threshold(threshold).ok()))
    }

    fn wear(&mut self) -> Result<Wear, Fault> {
        use EccCounter::{Aggregate, Volatile};
        use MemoryError::{Corrected, Uncorrected};
        let mut ecc = |what, error, counter| self.ask(what, |gpu| gpu.total_ecc_errors(error, counter));
        let volatile = [
            ecc(Ask::EccVolatileCorrected, Corrected, Volatile)?,
            ecc(Ask::EccVolatileUncorrected, Uncorrected, Volatile)?,
        ];
        let aggregate = [
            ecc(Ask::EccAggregateCorrected, Corrected, Aggregate)?,
            ecc(Ask::EccAggregateUncorrected, Uncorrected, Aggregate)?,
        ];
        let mut wear = Wear { ecc: [volatile, aggregate], ..Wear::default() };
        if let Some((errors, exceeded)) = self.ask(Ask::Sram, |gpu| raw::sram(gpu))? {
            (wear.sram, wear.sram_exceeded) = (errors.map(|errors| errors.map(Some)), Some(exceeded));
        }
        Ok(wear)
    }

    fn fields(&mut self, sample: &mut Sample) -> Result<(), Fault> {
        let Some(answers) = self.ask_fields(Ask::Fields, &FIELDS)? else { return Ok(()) };
        let mut answers = answers.into_iter();
        let mut next = || answers.next().flatten();
        let wear = &mut sample.wear;
        sample.memory_temperature = next();
        wear.remapped = std::array::from_fn(|_| next());
        wear.retired = std::array::from_fn(|_| next());
        (wear.retired_pending, wear.recovery_action) = (next(), next());
        sample.violations = std::array::from_fn::<_, VIOLATIONS, _>(|_| next());
        sample.pcie_bytes = std::array::from_fn(|_| next());
        Ok(())
    }

    fn links(&mut self) -> Result<Links, Fault> {
        let answer = self.ask_fields(Ask::Links, &LINK_FIELDS)?;
        // A GPU without links has no other link values either, whatever its driver returns.
        let Some([count, sent, received, errors @ ..]) = answer.filter(|[count, ..]| *count != Some(0)) else {
            return Ok(Links::default());
        };
        let mut links = Links { count, moved: [sent, received], errors, ..Links::default() };
        let known = usize::try_from(count.unwrap_or(0)).unwrap_or(usize::MAX);
        for (number, link) in (0..).zip(links.each.iter_mut().take(known)) {
            let fields = ONE_LINK_FIELDS.map(|field| (field, number));
            let Some([state, errors @ ..]) = self.ask_fields(Ask::Links, &fields)? else { break };
            *link = Link { state, errors };
        }
        Ok(links)
    }

    /// Returns the activity between the last sample and this one; all parts are `None` if either sample is missing.
    fn activity(&mut self) -> Result<Activity, Fault> {
        let now = self.ask(Ask::Activity, |gpu| gpu.gpm_sample())?;
        if self.lacks(Ask::Activity) && !std::mem::replace(&mut self.said, true) {
            log::info!(
                target: "tracecast_nvml",
                "GPU {} has no activity of parts (GPM): that needs Hopper or later, and is measured by instance under MIG",
                self.gpu
            );
        }
        let Some(now) = now else { return Ok([None; PARTS]) };
        let last = self.activity.take();
        let now = self.activity.insert(now);
        let Some(last) = last else { return Ok([None; PARTS]) };
        let answer = compared(&last, now);
        Ok(self.ask(Ask::Activity, |_| answer)?.unwrap_or_default())
    }

    /// Returns the activity of a MIG instance between the last sample and this one; `None` without a last sample or if
    /// a call fails, as on GPUs before Hopper, which have no GPM.
    fn activity_of(&mut self, index: usize, instance: &Device<'_>) -> Option<Activity> {
        let number = raw::instance_number(instance).ok()?;
        let now = self.device.gpm_mig_sample(number).ok()?;
        let of_instance = &mut self.instance_activity[index];
        let last = of_instance.take();
        let now = of_instance.insert(now);
        compared(&last?, now).ok()
    }

    fn instances(&mut self, sample: &mut Sample) -> Result<(), Fault> {
        let mode = self.ask(Ask::Mig, |gpu| gpu.mig_mode())?;
        if mode.is_none_or(|mode| mode.current == 0) {
            return Ok(());
        }
        // Under MIG the driver does not know the utilization; some drivers return 0.
        sample.utilization = None;
        let memory = if self.goes_other_way(Ask::Memory) { older_memory } else { memory };
        for (index, to) in sample.instances.iter_mut().enumerate() {
            // Not every index has an instance.
            let Ok(instance) = self.device.mig_device_by_index(index as u32) else {
                self.instance_activity[index] = None;
                continue;
            };
            let activity = if self.config.activity { self.activity_of(index, &instance) } else { None };
            *to = Some(Instance {
                memory: memory(&instance).ok(),
                uuid: raw::uuid(&instance).unwrap_or_default(),
                name: raw::name(&instance).unwrap_or_default(),
                activity: activity.unwrap_or_default(),
            });
        }
        Ok(())
    }
}

/// Returns the activity of parts between two GPM samples.
fn compared<'a>(last: &GpmSample<'a>, now: &GpmSample<'a>) -> Result<Activity, NvmlError> {
    let mut parts = [None; PARTS];
    for (to, result) in parts.iter_mut().zip(gpm_metrics_get(now.nvml(), last, now, &ACTIVITY)?) {
        *to = result.ok().map(|result| result.value);
    }
    Ok(parts)
}

fn memory(device: &Device<'_>) -> Result<Memory, NvmlError> {
    let memory = device.memory_info()?;
    Ok(Memory { used: memory.used, total: memory.total, reserved: Some(memory.reserved) })
}

fn older_memory(device: &Device<'_>) -> Result<Memory, NvmlError> {
    raw::memory(device).map(|(total, used)| Memory { used, total, reserved: None })
}

fn temperature(device: &Device<'_>) -> Result<u32, NvmlError> {
    device.temperature(TemperatureSensor::Gpu)
}

fn newer_reasons(device: &Device<'_>) -> Result<ThrottleReasons, NvmlError> {
    raw::clock_reasons(device).map(ThrottleReasons::from_bits_truncate)
}
