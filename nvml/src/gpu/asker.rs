//! Queries a GPU: remembers which queries are unsupported and counts failures.

use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, GpmSample};

use crate::config::Config;
use crate::gpu::fault::Fault;
use crate::gpu::metrics::ERRORS;
use crate::gpu::raw::{self, Field};
use crate::gpu::sample::{LIMITS, MOST_INSTANCES};

/// After this many samples unsupported queries are tried again, because MIG may have been switched on or off.
const ASK_AGAIN: u32 = 60;

/// A kind of query; each has a bit in `Asker`.
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

/// Queries a GPU and remembers unsupported queries: even a call of a function that the library lacks takes time.
pub(crate) struct Asker<'a> {
    pub(super) device: &'a Device<'a>,
    pub(super) config: &'a Config,
    /// The label of the GPU.
    pub(super) gpu: u32,
    /// A bit for each query that the GPU does not support.
    absent: u32,
    /// A bit for each query for which only the alternative call works.
    other_way: u32,
    samples: u32,
    /// Whether any query of this sample succeeded.
    answered: bool,
    /// The last fault of this sample.
    fault: Option<Fault>,
    /// The last GPM sample of the GPU. The activity is computed from this sample and the next one.
    pub(super) activity: Option<GpmSample<'a>>,
    pub(super) instance_activity: [Option<GpmSample<'a>>; MOST_INSTANCES],
    /// Temperature thresholds. They do not change, so they are queried only every `ASK_AGAIN` samples.
    pub(super) limits: Option<[Option<u32>; LIMITS]>,
    /// Whether the line about unsupported activity was logged.
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

    /// Begins a sample.
    pub(super) fn begin(&mut self) {
        (self.answered, self.fault) = (false, None);
        self.samples = self.samples.wrapping_add(1);
        if self.samples.is_multiple_of(ASK_AGAIN) {
            (self.absent, self.other_way, self.limits) = (0, 0, None);
        }
    }

    /// Returns the last fault of this sample if no query succeeded.
    pub(super) fn failure(&self) -> Option<Fault> {
        self.fault.filter(|_| !self.answered)
    }

    /// Returns whether the GPU does not support this query.
    pub(super) fn lacks(&self, what: Ask) -> bool {
        self.absent & 1 << what as u32 != 0
    }

    /// Returns whether only the alternative call works for this query.
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

    /// Queries with `call`. Once the driver does not support `call`, queries with `other`, until `begin` resets this
    /// choice.
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
        // The call succeeds even if all of its fields fail.
        self.answered = answered || answer.is_some_and(|values| values.iter().any(Option::is_some));
        Ok(answer)
    }
}
