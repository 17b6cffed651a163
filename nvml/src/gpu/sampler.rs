//! The thread that samples the GPU at one index.

use std::sync::Arc;

use nvml_wrapper::error::NvmlError;

use crate::config::Config;
use crate::gpu::asker::Asker;
use crate::gpu::driver::with_driver;
use crate::gpu::fault::Fault;
use crate::gpu::metrics::ERRORS;
use crate::gpu::power::Power;
use crate::gpu::registry::Registry;
use crate::gpu::slot::Slot;
use crate::gpu::view::Description;
use crate::stop::{Backoff, Stop};

/// Samples the GPU at one index until the monitor ends, or until the index has a GPU that is not selected. `slot` is filled until
/// the UUID of the GPU is known. After the loss of a GPU, the library is loaded again and the GPU is searched for, with growing
/// pauses.
///
/// If the GPU at the index is not selected and the thread served another GPU before, returns the number of GPUs: that
/// other GPU may be at another index now. Otherwise returns `None`.
pub(crate) fn run(
    config: &Config,
    registry: &Registry,
    index: u32,
    mut slot: Option<Arc<Slot>>,
    stop: &Stop,
) -> Option<u32> {
    let mut backoff = Backoff::new(config.interval, config.longest_pause());
    let mut known = None;
    while !stop.is_set() {
        let mut answered = false;
        slot.iter().for_each(|slot| slot.asks(index));
        let had_uuid = slot.as_ref().is_some_and(|slot| slot.is_filled_from(index) && slot.has_uuid());
        let fault = match generation(config, registry, index, &mut slot, stop, &mut answered) {
            Ok(Over::Ended) => return None,
            Ok(Over::Refused { count }) => {
                registry.refuse(index);
                return had_uuid.then_some(count);
            }
            Err(fault) => fault,
        };
        ERRORS.add(1_u64, (fault,));
        let lost = slot.as_ref().filter(|slot| slot.lose(index, fault));
        if answered {
            backoff.reset();
        }
        // One line per loss, not per attempt to find the GPU again.
        if let Some(slot) = lost.filter(|_| answered || known != Some(fault)) {
            log::warn!(target: "tracecast_nvml", "GPU {} does not answer ({fault:?}); looking for it again", slot.gpu);
        }
        known = Some(fault);
        stop.wait(backoff.next());
    }
    None
}

/// The reason for the end of a sampling thread.
enum Over {
    Ended,
    /// The GPU is not selected. The driver lists `count` GPUs.
    Refused {
        count: u32,
    },
}

/// Samples until the monitor ends or the GPU at the index is not selected; an error if the GPU does not answer or the
/// driver's handles become invalid.
fn generation(
    config: &Config,
    registry: &Registry,
    index: u32,
    slot: &mut Option<Arc<Slot>>,
    stop: &Stop,
    answered: &mut bool,
) -> Result<Over, Fault> {
    with_driver(config, |nvml| {
        let gpu = nvml.device_by_index(index).map_err(lost)?;
        let uuid = gpu.uuid().map_err(lost)?;
        let count = nvml.device_count().map_err(lost)?;
        *slot = registry.claim(index, count, &uuid);
        let Some(slot) = slot else { return Ok(Over::Refused { count }) };
        slot.asks(index);
        let description = Description {
            uuid: Some(uuid),
            model: gpu.name().ok(),
            pci_bus_id: gpu.pci_info().ok().map(|pci| pci.bus_id),
            serial: gpu.serial().ok(),
            driver: nvml.sys_driver_version().ok(),
        };
        let mut power = Power::open(&config.sysfs, description.pci_bus_id.as_deref().unwrap_or_default());
        slot.is(index, description);
        let mut asker = Asker::new(&gpu, config, slot.gpu);
        loop {
            if power.is_asleep() {
                slot.sleep(index);
            } else {
                slot.asks(index);
                slot.show(index, &asker.sample()?);
            }
            *answered = true;
            if stop.wait(config.interval) {
                return Ok(Over::Ended);
            }
        }
    })
}

/// Converts an error; for an index that no longer exists the driver returns `InvalidArg`.
fn lost(error: NvmlError) -> Fault {
    if matches!(error, NvmlError::InvalidArg) { Fault::NotFound } else { Fault::from(&error) }
}
