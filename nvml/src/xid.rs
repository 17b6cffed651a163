//! The thread that waits for errors that a GPU reports.
//!
//! Each GPU has a thread and a set of events of its own: one that refuses events, or hangs, takes none from the others.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nvml_wrapper::bitmasks::event::EventTypes;
use nvml_wrapper::enums::event::XidError;
use nvml_wrapper::error::NvmlError;

use crate::config::Config;
use crate::driver::with_driver;
use crate::fault::Fault;
use crate::metrics::{ERRORS, XID_TIME, XIDS_SEEN, Xid};
use crate::slot::Slot;
use crate::stop::{Backoff, Stop};

/// How long the driver is let wait for an event: after that the thread sees whether it is the end.
const PATIENCE: Duration = Duration::from_millis(500);
/// The number of an XID that the driver does not know.
const UNKNOWN: u64 = 999;

/// Waits until the end, or until the GPU says that it has no events.
pub(crate) fn run(config: &Config, slot: &Slot, stop: &Stop) {
    let mut backoff = Backoff::new(config.interval, config.longest_pause());
    while !stop.is_set() {
        match generation(config, slot, stop, &mut backoff) {
            Ok(()) => return,
            Err(fault) if fault.is_absence() => {
                log::info!(target: "tracecast_nvml", "GPU {} has no events: its XIDs are not seen", slot.gpu);
                return;
            }
            // The sampler says when a GPU is lost.
            Err(fault) => ERRORS.add(1_u64, (fault,)),
        }
        stop.wait(backoff.next());
    }
}

fn generation(config: &Config, slot: &Slot, stop: &Stop, backoff: &mut Backoff) -> Result<(), Fault> {
    with_driver(config, |nvml| {
        let fault = |error: NvmlError| Fault::from(&error);
        let gpu = nvml.device_by_index(slot.gpu).map_err(fault)?;
        let set = nvml.create_event_set().map_err(fault)?;
        let set =
            gpu.register_events(EventTypes::CRITICAL_XID_ERROR, set).map_err(|error| Fault::from(&error.error))?;
        backoff.reset();
        while !stop.is_set() && !slot.is_retired() {
            match set.wait(PATIENCE.as_millis() as u32) {
                Ok(event) => event.event_data.into_iter().for_each(|xid| seen(slot, &xid)),
                Err(NvmlError::Timeout) => {}
                Err(error) => return Err(fault(error)),
            }
        }
        Ok(())
    })
}

fn seen(slot: &Slot, error: &XidError) {
    let number = match error {
        XidError::Value(number) => *number,
        XidError::Unknown => UNKNOWN,
    };
    let is_recorded = slot.record(|gpu| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        XID_TIME.set(now.as_secs_f64(), (gpu,));
        XIDS_SEEN.add(1_u64, (gpu, Xid::new(number)));
    });
    if is_recorded {
        log::error!(target: "tracecast_nvml", "GPU {} reported XID {number}", slot.gpu);
    }
}
