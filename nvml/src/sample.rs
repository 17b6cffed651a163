//! Everything that a GPU is asked, once.

use nvml_wrapper::Device;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, EccCounter, MemoryError, PcieUtilCounter, TemperatureSensor};
use nvml_wrapper::enums::device::SampleValue;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::struct_wrappers::device::FieldValueSample;
use nvml_wrapper::structs::device::FieldId;

use crate::config::Config;
use crate::fault::Fault;
use crate::metrics::ERRORS;

/// MIG instances that a GPU can have.
pub(crate) const MOST_INSTANCES: usize = 8;

/// Memory in use and in all, and what the driver keeps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) used: u64,
    pub(crate) total: u64,
    pub(crate) reserved: u64,
}

/// What a GPU answered. `None` is a gap. Units are NVML's.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    /// Of the GPU and of its memory, in percent.
    pub(crate) utilization: Option<(u32, u32)>,
    pub(crate) memory: Option<Memory>,
    pub(crate) instances: [Option<Memory>; MOST_INSTANCES],
    pub(crate) temperature: Option<u32>,
    pub(crate) memory_temperature: Option<u64>,
    /// In milliwatts.
    pub(crate) power: Option<u32>,
    pub(crate) power_limit: Option<u32>,
    /// In millijoules.
    pub(crate) energy: Option<u64>,
    /// In megahertz.
    pub(crate) clock_sm: Option<u32>,
    pub(crate) clock_memory: Option<u32>,
    pub(crate) throttle: Option<ThrottleReasons>,
    pub(crate) ecc_corrected: Option<u64>,
    pub(crate) ecc_uncorrected: Option<u64>,
    pub(crate) remapped: [Option<u64>; 4],
    pub(crate) replays: Option<u32>,
    pub(crate) processes: Option<u32>,
    /// Sent and received, in kilobytes per second.
    pub(crate) throughput: [Option<u32>; 2],
    pub(crate) details: Details,
}

/// What is asked only if somebody wants it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Details {
    /// In percent.
    pub(crate) encoder: Option<u32>,
    pub(crate) decoder: Option<u32>,
    pub(crate) fan: Option<u32>,
    pub(crate) performance_state: Option<u32>,
    pub(crate) link_generation: Option<u32>,
    pub(crate) link_width: Option<u32>,
}

/// The slowest state. A driver that does not know it says 32.
const SLOWEST_STATE: u32 = 15;

/// The field of the memory's temperature, then those of remapped rows.
const FIELDS: [FieldId; 5] = [FieldId(82), FieldId(142), FieldId(143), FieldId(144), FieldId(145)];

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
}

/// Asks a GPU, and remembers what it cannot answer: even a function that the library lacks costs time at each call.
pub(crate) struct Asker<'a> {
    device: &'a Device<'a>,
    config: &'a Config,
    absent: u32,
    samples: u32,
}

impl<'a> Asker<'a> {
    pub(crate) fn new(device: &'a Device<'a>, config: &'a Config) -> Self {
        Asker { device, config, absent: 0, samples: 0 }
    }

    /// All answers; an error if the GPU is lost.
    pub(crate) fn sample(&mut self) -> Result<Sample, Fault> {
        self.samples = self.samples.wrapping_add(1);
        if self.samples.is_multiple_of(ASK_AGAIN) {
            self.absent = 0;
        }
        let mut sample = Sample {
            utilization: self.ask(Ask::Utilization, |gpu| gpu.utilization_rates())?.map(|of| (of.gpu, of.memory)),
            memory: self.ask(Ask::Memory, memory)?,
            temperature: self.ask(Ask::Temperature, |gpu| gpu.temperature(TemperatureSensor::Gpu))?,
            power: self.ask(Ask::Power, |gpu| gpu.power_usage())?,
            power_limit: self.ask(Ask::PowerLimit, |gpu| gpu.enforced_power_limit())?,
            energy: self.ask(Ask::Energy, |gpu| gpu.total_energy_consumption())?,
            clock_sm: self.ask(Ask::ClockSm, |gpu| gpu.clock_info(Clock::SM))?,
            clock_memory: self.ask(Ask::ClockMemory, |gpu| gpu.clock_info(Clock::Memory))?,
            throttle: self.ask(Ask::Throttle, |gpu| gpu.current_throttle_reasons())?,
            ecc_corrected: self.ask(Ask::EccCorrected, |gpu| ecc(gpu, MemoryError::Corrected))?,
            ecc_uncorrected: self.ask(Ask::EccUncorrected, |gpu| ecc(gpu, MemoryError::Uncorrected))?,
            replays: self.ask(Ask::Replays, |gpu| gpu.pcie_replay_counter())?,
            processes: self.ask(Ask::Processes, |gpu| gpu.running_compute_processes_count())?,
            ..Sample::default()
        };
        self.fields(&mut sample)?;
        self.instances(&mut sample)?;
        if self.config.details {
            sample.details = self.details()?;
        }
        if self.config.pcie_throughput {
            let sent = self.ask(Ask::Sent, |gpu| gpu.pcie_throughput(PcieUtilCounter::Send))?;
            let received = self.ask(Ask::Received, |gpu| gpu.pcie_throughput(PcieUtilCounter::Receive))?;
            sample.throughput = [sent, received];
        }
        Ok(sample)
    }

    fn ask<T>(
        &mut self,
        what: Ask,
        call: impl FnOnce(&Device<'a>) -> Result<T, NvmlError>,
    ) -> Result<Option<T>, Fault> {
        let bit = 1 << what as u32;
        if self.absent & bit != 0 {
            return Ok(None);
        }
        let fault = match call(self.device) {
            Ok(answer) => return Ok(Some(answer)),
            Err(error) => Fault::from(&error),
        };
        if fault.ends_generation() {
            return Err(fault);
        }
        if fault.is_absence() {
            self.absent |= bit;
        } else {
            ERRORS.add(1_u64, (fault,));
        }
        Ok(None)
    }

    fn details(&mut self) -> Result<Details, Fault> {
        let state = self.ask(Ask::PerformanceState, |gpu| gpu.performance_state())?.map(|state| state.as_c());
        Ok(Details {
            encoder: self.ask(Ask::Encoder, |gpu| gpu.encoder_utilization())?.map(|of| of.utilization),
            decoder: self.ask(Ask::Decoder, |gpu| gpu.decoder_utilization())?.map(|of| of.utilization),
            fan: self.ask(Ask::Fan, |gpu| gpu.fan_speed(0))?,
            performance_state: state.filter(|state| *state <= SLOWEST_STATE),
            link_generation: self.ask(Ask::LinkGeneration, |gpu| gpu.current_pcie_link_gen())?,
            link_width: self.ask(Ask::LinkWidth, |gpu| gpu.current_pcie_link_width())?,
        })
    }

    fn fields(&mut self, sample: &mut Sample) -> Result<(), Fault> {
        let Some(values) = self.ask(Ask::Fields, |gpu| gpu.field_values_for(&FIELDS))? else { return Ok(()) };
        let mut values = values.into_iter().map(field);
        sample.memory_temperature = values.next().flatten();
        for (to, value) in sample.remapped.iter_mut().zip(values) {
            *to = value;
        }
        Ok(())
    }

    fn instances(&mut self, sample: &mut Sample) -> Result<(), Fault> {
        let mode = self.ask(Ask::Mig, |gpu| gpu.mig_mode())?;
        if mode.is_none_or(|mode| mode.current == 0) {
            return Ok(());
        }
        // Never 0 under MIG, where the driver does not know it.
        sample.utilization = None;
        for (index, to) in (0..).zip(&mut sample.instances) {
            // Not all places are taken.
            *to = self.device.mig_device_by_index(index).and_then(|instance| memory(&instance)).ok();
        }
        Ok(())
    }
}

fn memory(device: &Device<'_>) -> Result<Memory, NvmlError> {
    let memory = device.memory_info()?;
    Ok(Memory { used: memory.used, total: memory.total, reserved: memory.reserved })
}

fn ecc(device: &Device<'_>, severity: MemoryError) -> Result<u64, NvmlError> {
    device.total_ecc_errors(severity, EccCounter::Volatile)
}

fn field(sample: Result<FieldValueSample, NvmlError>) -> Option<u64> {
    match sample.ok()?.value.ok()? {
        SampleValue::U32(value) => Some(u64::from(value)),
        SampleValue::U64(value) => Some(value),
        SampleValue::I64(value) => u64::try_from(value).ok(),
        SampleValue::F64(_) => None,
    }
}
