//! The thread that finds the driver and its GPUs.

use std::sync::Arc;

use tracecast::InternedKey;

use crate::gpu::driver::with_driver;
use crate::gpu::fault::Fault;
use crate::gpu::metrics::{ERRORS, MOST_GPUS, driver};
use crate::gpu::shared::Shared;
use crate::stop::Backoff;

/// Searches until the monitor ends: with growing pauses while the driver is unavailable, else at the longest pause for new GPUs.
pub(crate) fn run(shared: &Arc<Shared>) {
    let mut backoff = Backoff::new(shared.config.interval, shared.config.longest_pause());
    let mut said = false;
    while !shared.stop.is_set() {
        shared.availability.asks();
        let found = with_driver(&shared.config, |nvml| {
            let count = nvml.device_count().map_err(|error| Fault::from(&error))?;
            Ok((count, nvml.sys_driver_version().unwrap_or_else(|_| "unknown".to_owned())))
        });
        let pause = match found {
            Ok((count, version)) => {
                shared.availability.is(Ok(driver::intern(&version)));
                if count > MOST_GPUS && !std::mem::replace(&mut said, true) {
                    log::warn!(target: "tracecast_nvml", "found {count} GPUs; those with index {MOST_GPUS} or higher are not monitored");
                }
                shared.look_after(count);
                backoff.reset();
                shared.config.longest_pause()
            }
            Err(fault) => {
                ERRORS.add(1_u64, (fault,));
                shared.availability.is(Err(fault));
                backoff.next()
            }
        };
        shared.stop.wait(pause);
        while shared.is_any_asleep() && !shared.stop.wait(pause) {}
    }
}
