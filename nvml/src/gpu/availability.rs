//! Shows the availability of the driver as `tc_nvml_available` and `tc_nvml_driver_info`.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tracecast::Key;

use crate::gpu::fault::Fault;
use crate::gpu::metrics::{AVAILABLE, DRIVER_INFO, driver};

type Version = <driver as Key>::Value;

/// The availability of the driver, shown as `tc_nvml_available` and `tc_nvml_driver_info`.
#[derive(Default)]
pub(crate) struct Availability(Mutex<State>);

#[derive(Default)]
struct State {
    found: Option<Result<Version, Fault>>,
    /// The start of the current driver call, if one is in progress.
    asking: Option<Instant>,
    retired: bool,
}

impl State {
    /// Stores and shows the result of a driver call. Returns `false` without an effect if the result is unchanged or
    /// the metrics are retired.
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

    /// Notes that a driver call begins.
    pub(crate) fn asks(&self) {
        self.lock().asking = Some(Instant::now());
    }

    /// Shows the result of a driver call, and logs one line if it is new.
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

    /// Sets the metrics again, because they may have been switched on meanwhile. A driver whose call has not returned for
    /// `stale_after` is unavailable.
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

    /// Clears the metrics and ignores later results.
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
