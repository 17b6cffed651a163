//! The library, loaded by one thread for itself.
//!
//! Each thread has an `Nvml` of its own, which it alone drops: NVML and the linker count who uses them, so nothing is
//! unloaded under a call that hangs elsewhere, and a handle never outlives the generation of the driver that it is of.

use std::panic::{AssertUnwindSafe, catch_unwind};

use nvml_wrapper::Nvml;
use nvml_wrapper::error::NvmlError;

use crate::config::Config;
use crate::gpu::fault::Fault;

/// NVML under the name that drivers install; `libnvidia-ml.so` itself comes with their development files only.
#[cfg(target_os = "linux")]
const INSTALLED: &str = "libnvidia-ml.so.1";

/// Loads the library and does `with` it. A panic of the wrapper, as for a library that cannot be shut down, is a fault.
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
