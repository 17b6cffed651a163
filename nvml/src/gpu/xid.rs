//! The thread that waits for a GPU's XIDs.
//!
//! Each GPU has its own thread and event set, so a GPU that refuses events or hangs does not affect the others.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nvml_wrapper::bitmasks::event::EventTypes;
use nvml_wrapper::enums::event::XidError;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{EventSet, Nvml};

use crate::config::Config;
use crate::gpu::driver::with_driver;
use crate::gpu::fault::Fault;
use crate::gpu::metrics::{ERRORS, XID_TIME};
use crate::gpu::recent::{self, Recent};
use crate::gpu::registry::Registry;
use crate::gpu::slot::Slot;
use crate::gpu::xids::Xid;
use crate::gpu::{counters, raw};
use crate::stop::{Backoff, Stop};

/// The longest wait for an event; after each wait the thread checks whether the monitor has ended.
const PATIENCE: Duration = Duration::from_millis(500);
/// The number for an XID that the wrapper reports as unknown.
const UNKNOWN: u64 = 999;

/// The first pause before the thread checks again whether the UUID of the GPU is known.
const SOON: Duration = Duration::from_millis(10);

/// Waits for XIDs of whichever GPU is at this index, until the monitor ends or other threads serve the index.
pub(crate) fn run(config: &Config, registry: &Registry, index: u32, number: u64, stop: &Stop) {
    let mut backoff = Backoff::new(config.interval, config.longest_pause());
    let mut unknown = Backoff::new(SOON, config.interval);
    while !stop.is_set() && registry.is_taken(index, number) {
        let Some(slot) = registry.at(index) else {
            stop.wait(unknown.next());
            continue;
        };
        unknown.reset();
        if slot.is_asleep() {
            stop.wait(config.interval);
            continue;
        }
        match generation(config, &slot, index, stop, &mut backoff) {
            Ok(()) => {}
            Err(fault) if fault.is_absence() => {
                log::info!(target: "tracecast_nvml", "GPU {} has no events: its XIDs are not seen", slot.gpu);
                // Another GPU at this index may support events.
                while slot.is_filled_from(index) && !stop.wait(config.interval) {}
            }
            // The sampler logs the loss of a GPU.
            Err(fault) => ERRORS.add(1_u64, (fault,)),
        }
        stop.wait(backoff.next());
    }
}

/// Waits for XIDs until the driver's handles are invalid (an error), the monitor ends, or this index no longer fills
/// the slot.
fn generation(config: &Config, slot: &Slot, index: u32, stop: &Stop, backoff: &mut Backoff) -> Result<(), Fault> {
    with_driver(config, |nvml| {
        let fault = |error: NvmlError| Fault::from(&error);
        let gpu = nvml.device_by_index(index).map_err(fault)?;
        if !slot.has_this_uuid(&gpu.uuid().map_err(fault)?) {
            // Another GPU is at this index, which the sampler has not noticed yet.
            return Ok(());
        }
        let set = events(nvml, index).map_err(fault)?;
        backoff.reset();
        let mut older = false;
        while !stop.is_set() && slot.is_filled_from(index) {
            // A call would wake the GPU. Its events are queued in the set meanwhile.
            if slot.is_asleep() {
                stop.wait(config.interval);
                continue;
            }
            match next(nvml, &set, &mut older) {
                Ok(number) => number.into_iter().for_each(|number| seen(slot, number)),
                Err(NvmlError::Timeout) => {}
                Err(error) => return Err(fault(error)),
            }
        }
        Ok(())
    })
}

/// Registers for the XIDs of a GPU.
#[cfg(target_os = "linux")]
fn events(nvml: &Nvml, gpu: u32) -> Result<EventSet<'_>, NvmlError> {
    let gpu = nvml.device_by_index(gpu)?;
    gpu.register_events(EventTypes::CRITICAL_XID_ERROR, nvml.create_event_set()?).map_err(|error| error.error)
}

/// Returns an error: NVML has events only on Linux.
#[cfg(not(target_os = "linux"))]
fn events(_: &Nvml, _: u32) -> Result<EventSet<'_>, NvmlError> {
    Err(NvmlError::NotSupported)
}

/// Waits for an XID; returns `None` for another event. If the driver lacks the newer function, sets `older`, and the
/// older function is called from then on.
fn next(nvml: &Nvml, set: &EventSet<'_>, older: &mut bool) -> Result<Option<u64>, NvmlError> {
    let patience = PATIENCE.as_millis() as u32;
    if !*older {
        match set.wait(patience) {
            Err(error) if Fault::from(&error) == Fault::FunctionAbsent => *older = true,
            event => return event.map(|event| event.event_data.map(number)),
        }
    }
    let (kind, number) = raw::wait(nvml, set, patience)?;
    Ok(EventTypes::from_bits_truncate(kind).contains(EventTypes::CRITICAL_XID_ERROR).then_some(number))
}

fn number(error: XidError) -> u64 {
    match error {
        XidError::Value(number) => number,
        XidError::Unknown => UNKNOWN,
    }
}

fn seen(slot: &Slot, number: u64) {
    let line = slot.xid(number, |of| {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // Stored before the counter, so that a reader of the counter also sees the XID.
        recent::push(of.gpu, Recent { number, time });
        XID_TIME.set(time.as_secs_f64(), (of.gpu,));
        counters::xid(of, Xid::new(number));
    });
    if let Some(line) = line {
        log::error!(target: "tracecast_nvml", "{line}");
    }
}
