//! Whether there is a driver, as the metrics say it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tracecast::Key;

use crate::gpu::fault::Fault;
use crate::gpu::metrics::{AVAILABLE, DRIVER_INFO, driver};

type Version = <driver as Key>::Value;

/// Whether there is a driver, as the metrics say it.
#[derive(Default)]
pub(crate) struct Availability(Mutex<State>);

#[derive(Default)]
struct State {
    found: Option<Result<Version, Fault>>,
    /// Since when the driver has been asked, if it is being asked.
    asking: Option<Instant>,
    retired: bool,
}

impl State {
    /// Whether it is something new.
    fn replace(&mut self, found: Result<Version, Fault>) -> bool {
        if self.retired || self.found == Some(found) {
            return false;
        }
        clear(self.found.replace(found));
        show(found);
        true
    }
}

impl Availability {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The driver is about to be asked.
    pub(crate) fn asks(&self) {
        self.lock().asking = Some(Instant::now());
    }

    /// This was found. One line is logged if it is something new.
    pub(crate) fn is(&self, found: Result<Version, Fault>) {
        let is_new = {
            let mut state = self.lock();
            state.asking = None;
            state.replace(found)
        };
        if is_new {
            say(found);
        }
    }

    /// Says it again, as metrics may have been switched on meanwhile. A driver that does not come back is not there.
    pub(crate) fn watch(&self, stale_after: Duration) {
        let stuck = Err(Fault::Timeout);
        let is_new = {
            let mut state = self.lock();
            let is_stuck = state.asking.is_some_and(|since| since.elapsed() > stale_after);
            state.found.filter(|_| !state.retired).into_iter().for_each(show);
            is_stuck && state.replace(stuck)
        };
        if is_new {
            say(stuck);
        }
    }

    /// Says nothing any more.
    pub(crate) fn retire(&self) {
        let mut state = self.lock();
        state.retired = true;
        clear(state.found);
    }
}

fn say(found: Result<Version, Fault>) {
    match found {
        Ok(_) => log::info!(target: "tracecast_nvml", "the NVIDIA driver answers"),
        Err(fault) => log::warn!(target: "tracecast_nvml", "no GPU metrics ({fault:?}); looking again now and then"),
    }
}

fn show(found: Result<Version, Fault>) {
    AVAILABLE.set(u64::from(found.is_ok()), (found.err(),));
    if let Ok(version) = found {
        DRIVER_INFO.set(1_u64, (version,));
    }
}

fn clear(found: Option<Result<Version, Fault>>) {
    if let Some(found) = found {
        AVAILABLE.clear((found.err(),));
        found.into_iter().for_each(|version| DRIVER_INFO.clear((version,)));
    }
}
