//! The thread that asks one GPU.

use nvml_wrapper::error::NvmlError;

use crate::config::Config;
use crate::gpu::asker::Asker;
use crate::gpu::driver::with_driver;
use crate::gpu::fault::Fault;
use crate::gpu::filter::Filter;
use crate::gpu::metrics::ERRORS;
use crate::gpu::power::Power;
use crate::gpu::slot::Slot;
use crate::stop::{Backoff, Stop};

/// Asks until the end. A GPU that is lost is looked for again, from the library on, with growing pauses.
pub(crate) fn run(config: &Config, filter: &Filter, slot: &Slot, stop: &Stop) {
    let mut backoff = Backoff::new(config.interval, config.longest_pause());
    let mut known = None;
    while !stop.is_set() {
        let mut answered = false;
        slot.asks();
        let Err(fault) = generation(config, filter, slot, stop, &mut answered) else { return };
        ERRORS.add(1_u64, (fault,));
        slot.lose(fault);
        if answered {
            backoff.reset();
        }
        // One line for each loss, not for each attempt to find it again.
        if answered || known != Some(fault) {
            log::warn!(target: "tracecast_nvml", "GPU {} does not answer ({fault:?}); looking for it again", slot.gpu);
        }
        known = Some(fault);
        stop.wait(backoff.next());
    }
}

/// Asks for as long as handles are worth something. It is over without a fault at the end, and if the GPU is not wanted.
fn generation(config: &Config, filter: &Filter, slot: &Slot, stop: &Stop, answered: &mut bool) -> Result<(), Fault> {
    with_driver(config, |nvml| {
        let gpu = nvml.device_by_index(slot.gpu).map_err(lost)?;
        let uuid = gpu.uuid().map_err(lost)?;
        if filter.selects(slot.gpu, nvml.device_count().map_err(lost)?, Some(&uuid)) == Some(false) {
            slot.retire();
            return Ok(());
        }
        let text = |text: Result<String, NvmlError>| text.unwrap_or_else(|_| "unknown".to_owned());
        let bus_id = text(gpu.pci_info().map(|pci| pci.bus_id));
        slot.is(&uuid, &text(gpu.name()), &bus_id);
        let mut power = Power::open(&config.sysfs, &bus_id);
        let mut asker = Asker::new(&gpu, config);
        loop {
            if power.is_asleep() {
                slot.sleep();
            } else {
                slot.asks();
                slot.show(&asker.sample()?);
            }
            *answered = true;
            if stop.wait(config.interval) {
                return Ok(());
            }
        }
    })
}

/// An index that is no longer one is an invalid argument to the driver.
fn lost(error: NvmlError) -> Fault {
    if matches!(error, NvmlError::InvalidArg) { Fault::NotFound } else { Fault::from(&error) }
}
