//! Asks a GPU everything, once.

use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, EccCounter, MemoryError, PcieUtilCounter, TemperatureSensor};
use nvml_wrapper::enums::gpm::GpmMetricId;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::gpm::gpm_metrics_get;
use nvml_wrapper::sys_exports::field_id;
use nvml_wrapper::{Device, GpmSample};

use crate::config::Config;
use crate::gpu::fault::Fault;
use crate::gpu::metrics::ERRORS;
use crate::gpu::raw::{self, Field};
use crate::gpu::sample::{Details, LINK_ERRORS, Links, Memory, PARTS, Sample};

/// The slowest state. A driver that does not know it says 32.
const SLOWEST_STATE: u32 = 15;

/// The temperature of the memory, then rows that were remapped.
const FIELDS: [Field; 5] = [
    (field_id::NVML_FI_DEV_MEMORY_TEMP, 0),
    (field_id::NVML_FI_DEV_REMAPPED_COR, 0),
    (field_id::NVML_FI_DEV_REMAPPED_UNC, 0),
    (field_id::NVML_FI_DEV_REMAPPED_PENDING, 0),
    (field_id::NVML_FI_DEV_REMAPPED_FAILURE, 0),
];

/// All links together.
const ALL_LINKS: u32 = u32::MAX;
/// How many links there are, what they moved, and their errors by kind.
const LINK_FIELDS: [Field; 3 + LINK_ERRORS] = [
    (field_id::NVML_FI_DEV_NVLINK_LINK_COUNT, 0),
    (field_id::NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, ALL_LINKS),
    (field_id::NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, ALL_LINKS),
    (field_id::NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL, 0),
    (field_id::NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL, 0),
    (field_id::NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL, 0),
    (field_id::NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL, 0),
];

/// What GPM is asked, in the order of `metrics::PARTS`.
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

/// After so many samples it is asked again what the GPU could not do: MIG may have been switched meanwhile.
const ASK_AGAIN: u32 = 60;

/// One kind of question.
#[derive(Clone, Copy)]
enum Ask {
    Utilization,
    Memory,
    Temperature,
    Power,
    PowerLimit,
    Energy,
    ClockSm,
    ClockMemory,
    Throttle,
    EccCorrected,
    EccUncorrected,
    Fields,
    Replays,
    Processes,
    Sent,
    Received,
    Mig,
    Encoder,
    Decoder,
    Fan,
    PerformanceState,
    LinkGeneration,
    LinkWidth,
    Links,
    Activity,
}

/// Asks a GPU, and remembers what it cannot answer: even a function that the library lacks costs time at each call.
pub(crate) struct Asker<'a> {
    device: &'a Device<'a>,
    config: &'a Config,
    /// What it does not answer at all.
    absent: u32,
    /// What it does not answer in the way that is tried first.
    other_way: u32,
    samples: u32,
    /// Whether anything was answered in this sample.
    answered: bool,
    /// What went wrong in this sample, last.
    fault: Option<Fault>,
    /// What GPM measured up to the last sample.
    activity: Option<GpmSample<'a>>,
}

type Call<'a, T> = fn(&Device<'a>) -> Result<T, NvmlError>;

impl<'a> Asker<'a> {
    pub(crate) fn new(device: &'a Device<'a>, config: &'a Config) -> Self {
        Asker { device, config, absent: 0, other_way: 0, samples: 0, answered: false, fault: None, activity: None }
    }

    /// All answers; an error if the GPU is lost, or says nothing but that something is wrong.
    pub(crate) fn sample(&mut self) -> Result<Sample, Fault> {
        (self.answered, self.fault) = (false, None);
        let sample = self.everything()?;
        self.fault.filter(|_| !self.answered).map_or(Ok(sample), Err)
    }

    fn everything(&mut self) -> Result<Sample, Fault> {
        self.samples = self.samples.wrapping_add(1);
        if self.samples.is_multiple_of(ASK_AGAIN) {
            (self.absent, self.other_way) = (0, 0);
        }
        let mut sample = Sample {
            utilization: self.ask(Ask::Utilization, |gpu| gpu.utilization_rates())?.map(|of| (of.gpu, of.memory)),
            memory: self.ask_either(Ask::Memory, memory, older_memory)?,
            temperature: self.ask_either(Ask::Temperature, temperature, |gpu| raw::temperature(gpu))?,
            power: self.ask(Ask::Power, |gpu| gpu.power_usage())?,
            power_limit: self.ask(Ask::PowerLimit, |gpu| gpu.enforced_power_limit())?,
            energy: self.ask(Ask::Energy, |gpu| gpu.total_energy_consumption())?,
            clock_sm: self.ask(Ask::ClockSm, |gpu| gpu.clock_info(Clock::SM))?,
            clock_memory: self.ask(Ask::ClockMemory, |gpu| gpu.clock_info(Clock::Memory))?,
            throttle: self.ask_either(Ask::Throttle, |gpu| gpu.current_throttle_reasons(), newer_reasons)?,
            ecc_corrected: self.ask(Ask::EccCorrected, |gpu| ecc(gpu, MemoryError::Corrected))?,
            ecc_uncorrected: self.ask(Ask::EccUncorrected, |gpu| ecc(gpu, MemoryError::Uncorrected))?,
            replays: self.ask(Ask::Replays, |gpu| gpu.pcie_replay_counter())?,
            processes: self.processes()?,
            ..Sample::default()
        };
        self.fields(&mut sample)?;
        self.instances(&mut sample)?;
        self.options(&mut sample)?;
        Ok(sample)
    }

    /// What is asked only if somebody wants it.
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
        if self.config.pcie_throughput {
            let sent = self.ask(Ask::Sent, |gpu| gpu.pcie_throughput(PcieUtilCounter::Send))?;
            let received = self.ask(Ask::Received, |gpu| gpu.pcie_throughput(PcieUtilCounter::Receive))?;
            sample.throughput = [sent, received];
        }
        Ok(())
    }

    fn ask<T>(
        &mut self,
        what: Ask,
        call: impl FnOnce(&'a Device<'a>) -> Result<T, NvmlError>,
    ) -> Result<Option<T>, Fault> {
        let bit = 1 << what as u32;
        if self.absent & bit != 0 {
            return Ok(None);
        }
        let fault = match call(self.device) {
            Ok(answer) => {
                self.answered = true;
                return Ok(Some(answer));
            }
            Err(error) => Fault::from(&error),
        };
        if fault.ends_generation() {
            return Err(fault);
        }
        if fault.is_absence() {
            self.absent |= bit;
        } else {
            self.fault = Some(fault);
            ERRORS.add(1_u64, (fault,));
        }
        Ok(None)
    }

    /// Asks in one way, and from then on in another if this driver does not know the first.
    fn ask_either<T>(&mut self, what: Ask, call: Call<'a, T>, other: Call<'a, T>) -> Result<Option<T>, Fault> {
        let bit = 1 << what as u32;
        if self.other_way & bit == 0 && self.absent & bit == 0 {
            match call(self.device) {
                Err(error) if Fault::from(&error).is_absence() => self.other_way |= bit,
                answer => return self.ask(what, |_| answer),
            }
        }
        self.ask(what, other)
    }

    fn ask_fields<const N: usize>(
        &mut self,
        what: Ask,
        fields: &[Field; N],
    ) -> Result<Option<[Option<u64>; N]>, Fault> {
        let answered = self.answered;
        let answer = self.ask(what, |gpu| raw::fields(gpu, fields))?;
        // The call succeeds whatever becomes of its fields.
        self.answered = answered || answer.is_some_and(|values| values.iter().any(Option::is_some));
        Ok(answer)
    }

    fn processes(&mut self) -> Result<Option<u32>, Fault> {
        self.ask_either(Ask::Processes, |gpu| gpu.running_compute_processes_count(), |gpu| raw::processes(gpu))
    }

    fn details(&mut self) -> Result<Details, Fault> {
        let state = self.ask(Ask::PerformanceState, |gpu| gpu.performance_state())?.map(|state| state.as_c());
        Ok(Details {
            encoder: self.ask(Ask::Encoder, |gpu| gpu.encoder_utilization())?.map(|of| of.utilization),
            decoder: self.ask(Ask::Decoder, |gpu| gpu.decoder_utilization())?.map(|of| of.utilization),
            fan: self.ask_either(Ask::Fan, |gpu| gpu.fan_speed(0), |gpu| raw::fan_speed(gpu))?,
            performance_state: state.filter(|state| *state <= SLOWEST_STATE),
            link_generation: self.ask(Ask::LinkGeneration, |gpu| gpu.current_pcie_link_gen())?,
            link_width: self.ask(Ask::LinkWidth, |gpu| gpu.current_pcie_link_width())?,
        })
    }

    fn fields(&mut self, sample: &mut Sample) -> Result<(), Fault> {
        if let Some([temperature, rows @ ..]) = self.ask_fields(Ask::Fields, &FIELDS)? {
            (sample.memory_temperature, sample.remapped) = (temperature, rows);
        }
        Ok(())
    }

    fn links(&mut self) -> Result<Links, Fault> {
        let answer = self.ask_fields(Ask::Links, &LINK_FIELDS)?;
        // A GPU without links has none of the rest either, whatever its driver says.
        let Some([count, sent, received, errors @ ..]) = answer.filter(|[count, ..]| *count != Some(0)) else {
            return Ok(Links::default());
        };
        Ok(Links { count, moved: [sent, received], errors })
    }

    /// What happened between the last sample and this one.
    fn activity(&mut self) -> Result<[Option<f64>; PARTS], Fault> {
        let Some(now) = self.ask(Ask::Activity, |gpu| gpu.gpm_sample())? else { return Ok([None; PARTS]) };
        let last = self.activity.take();
        let now = self.activity.insert(now);
        let Some(last) = last else { return Ok([None; PARTS]) };
        let answer = gpm_metrics_get(self.device.nvml(), &last, now, &ACTIVITY);
        let answer = self.ask(Ask::Activity, |_| answer)?;
        let mut parts = [None; PARTS];
        for (to, result) in parts.iter_mut().zip(answer.into_iter().flatten()) {
            *to = result.ok().map(|result| result.value);
        }
        Ok(parts)
    }

    fn instances(&mut self, sample: &mut Sample) -> Result<(), Fault> {
        let mode = self.ask(Ask::Mig, |gpu| gpu.mig_mode())?;
        if mode.is_none_or(|mode| mode.current == 0) {
            return Ok(());
        }
        // Never 0 under MIG, where the driver does not know it.
        sample.utilization = None;
        let memory = if self.other_way & 1 << Ask::Memory as u32 == 0 { memory } else { older_memory };
        for (index, to) in (0..).zip(&mut sample.instances) {
            // Not all places are taken.
            *to = self.device.mig_device_by_index(index).and_then(|instance| memory(&instance)).ok();
        }
        Ok(())
    }
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

fn ecc(device: &Device<'_>, severity: MemoryError) -> Result<u64, NvmlError> {
    device.total_ecc_errors(severity, EccCounter::Volatile)
}
