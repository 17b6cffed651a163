//! Loads the NVML library for one thread.
//!
//! Each thread owns an `Nvml` and drops it itself. NVML and the dynamic linker count references, so the library is not unloaded
//! while a call hangs on another thread, and a handle never outlives the driver generation that issued it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use nvml_wrapper::Nvml;
use nvml_wrapper::error::NvmlError;

use crate::config::Config;
use crate::gpu::fault::Fault;

/// The name under which drivers install NVML; `libnvidia-ml.so` is part of the development files only.
#[cfg(target_os = "linux")]
const INSTALLED: &str = "libnvidia-ml.so.1";

/// Loads the library and calls `with`. A panic of the wrapper, for example if the library cannot be shut down, becomes a fault.
pub(crate) fn with_driver<T>(config: &Config, with: impl FnOnce(&Nvml) -> Result<T, Fault>) -> Result<T, Fault> {
    let run = || {
        let nvml = load(config).map_err(|error| Fault::from(&error))?;
        with(&nvml)
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or(Err(Fault::Panicked))
}

fn load(config: &Config) -> Result<Nvml, NvmlError> {
    if let Some(path) = &config.library {
        return Nvml::builder().lib_path(path.as_os_str()).init();
    }
    #[cfg(target_os = "linux")]
    match Nvml::builder().lib_path(INSTALLED.as_ref()).init() {
        Err(NvmlError::LibloadingError(_)) => {}
        loaded => return loaded,
    }
    Nvml::init()
}
