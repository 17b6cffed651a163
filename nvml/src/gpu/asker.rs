//! How a GPU is asked: what it cannot do is remembered, what goes wrong is counted.

use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, GpmSample};

use crate::config::Config;
use crate::gpu::fault::Fault;
use crate::gpu::metrics::ERRORS;
use crate::gpu::raw::{self, Field};
use crate::gpu::sample::{LIMITS, MOST_INSTANCES};

/// After so many samples it is asked again what the GPU could not do: MIG may have been switched meanwhile.
const ASK_AGAIN: u32 = 60;

/// One kind of question.
#[derive(Clone, Copy)]
pub(super) enum Ask {
    Utilization,
    Encoder,
    Decoder,
    Memory,
    Temperature,
    Power,
    PowerLimit,
    Energy,
    ClockSm,
    ClockMemory,
    Throttle,
    EccVolatileCorrected,
    EccVolatileUncorrected,
    EccAggregateCorrected,
    EccAggregateUncorrected,
    Sram,
    Fields,
    Replays,
    Processes,
    Sent,
    Received,
    Mig,
    Fan,
    PerformanceState,
    LinkGeneration,
    LinkWidth,
    Links,
    Activity,
}

/// Asks a GPU, and remembers what it cannot answer: even a function that the library lacks costs time at each call.
pub(crate) struct Asker<'a> {
    pub(super) device: &'a Device<'a>,
    pub(super) config: &'a Config,
    /// The label of the GPU.
    pub(super) gpu: u32,
    /// What it does not answer at all.
    absent: u32,
    /// What it does not answer in the way that is tried first.
    other_way: u32,
    samples: u32,
    /// Whether anything was answered in this sample.
    answered: bool,
    /// What went wrong in this sample, last.
    fault: Option<Fault>,
    /// What GPM measured up to the last sample, of the GPU and of its instances.
    pub(super) activity: Option<GpmSample<'a>>,
    pub(super) instance_activity: [Option<GpmSample<'a>>; MOST_INSTANCES],
    /// Temperatures at which something happens: they do not change, so they are asked for now and then.
    pub(super) limits: Option<[Option<u32>; LIMITS]>,
    /// It was logged that activity is not measured.
    pub(super) said: bool,
}

type Call<'a, T> = fn(&Device<'a>) -> Result<T, NvmlError>;

impl<'a> Asker<'a> {
    pub(crate) fn new(device: &'a Device<'a>, config: &'a Config, gpu: u32) -> Self {
        Asker {
            device,
            config,
            gpu,
            absent: 0,
            other_way: 0,
            samples: 0,
            answered: false,
            fault: None,
            activity: None,
            instance_activity: [const { None }; MOST_INSTANCES],
            limits: None,
            said: false,
        }
    }

    /// A sample begins.
    pub(super) fn begin(&mut self) {
        (self.answered, self.fault) = (false, None);
        self.samples = self.samples.wrapping_add(1);
        if self.samples.is_multiple_of(ASK_AGAIN) {
            (self.absent, self.other_way, self.limits) = (0, 0, None);
        }
    }

    /// What went wrong in this sample, if nothing was answered.
    pub(super) fn failure(&self) -> Option<Fault> {
        self.fault.filter(|_| !self.answered)
    }

    /// Whether it does not answer this at all.
    pub(super) fn lacks(&self, what: Ask) -> bool {
        self.absent & 1 << what as u32 != 0
    }

    /// Whether it answers this only in the way that is tried second.
    pub(super) fn goes_other_way(&self, what: Ask) -> bool {
        self.other_way & 1 << what as u32 != 0
    }

    pub(super) fn ask<T>(
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
    pub(super) fn ask_either<T>(
        &mut self,
        what: Ask,
        call: Call<'a, T>,
        other: Call<'a, T>,
    ) -> Result<Option<T>, Fault> {
        let bit = 1 << what as u32;
        if self.other_way & bit == 0 && self.absent & bit == 0 {
            match call(self.device) {
                Err(error) if Fault::from(&error).is_absence() => self.other_way |= bit,
                answer => return self.ask(what, |_| answer),
            }
        }
        self.ask(what, other)
    }

    pub(super) fn ask_fields<const N: usize>(
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
}
