//! A copy of the library for one test, with its own script.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A driver whose functions differ from those of the newest driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Driver {
    /// A driver from before MIG, without the second versions of functions and without newer ones.
    Old,
    /// A driver of CUDA 14, without the functions that CUDA 13 deprecated.
    Cuda14,
}

impl Driver {
    /// Returns the functions that the driver lacks.
    pub fn lacks(self) -> &'static [&'static str] {
        match self {
            Driver::Old => &[
                "nvmlDeviceGetMemoryInfo_v2",
                "nvmlDeviceGetComputeRunningProcesses_v2",
                "nvmlDeviceGetComputeRunningProcesses_v3",
                "nvmlDeviceGetFanSpeed_v2",
                "nvmlDeviceGetTemperatureV",
                "nvmlDeviceGetCurrentClocksEventReasons",
                "nvmlEventSetWait_v2",
                "nvmlDeviceGetMigMode",
                "nvmlDeviceGetMaxMigDeviceCount",
                "nvmlDeviceGetMigDeviceHandleByIndex",
                "nvmlGpmSampleAlloc",
                "nvmlGpmSampleFree",
                "nvmlGpmSampleGet",
                "nvmlGpmMigSampleGet",
                "nvmlDeviceGetGpuInstanceId",
                "nvmlDeviceGetSramEccErrorStatus",
                "nvmlGpmMetricsGet",
            ],
            Driver::Cuda14 => &[
                "nvmlDeviceGetTemperature",
                "nvmlDeviceGetCurrentClocksThrottleReasons",
                "nvmlDeviceGetComputeRunningProcesses",
                "nvmlDeviceGetComputeRunningProcesses_v2",
                "nvmlDeviceGetFanSpeed",
                "nvmlEventSetWait",
            ],
        }
    }
}

/// A copy of the fake in its own folder, as `libnvidia-ml.so.1`. Dropping it removes both.
///
/// The dynamic linker loads each copy as a separate library with its own script and state, so a process can use several copies at
/// the same time.
#[derive(Debug)]
pub struct Fake {
    folder: PathBuf,
}

impl Fake {
    /// Creates a copy that follows `script`.
    ///
    /// # Errors
    /// If the library was not built, or cannot be copied.
    pub fn new(script: &str) -> io::Result<Self> {
        Self::without(&[], script)
    }

    /// Creates a copy with the functions of another driver.
    ///
    /// # Errors
    /// If the library was not built, or cannot be copied.
    pub fn of(driver: Driver, script: &str) -> io::Result<Self> {
        Self::without(driver.lacks(), script)
    }

    /// Creates a copy that answers like the driver whose `recording` was written by [`record`](crate::record()).
    ///
    /// # Errors
    /// If the library was not built or cannot be copied, or if the recording lists a function that the fake does not
    /// have.
    pub fn replay(recording: &str) -> io::Result<Self> {
        let lacks = recording.lines().find_map(|line| line.strip_prefix("lacks =")).unwrap_or_default();
        Self::without(&lacks.split_whitespace().collect::<Vec<_>>(), recording)
    }

    /// Creates a copy without these functions, like the library of another driver.
    ///
    /// # Errors
    /// If the library was not built or cannot be copied, or if the fake does not have one of the functions.
    pub fn without(functions: &[&str], script: &str) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("tracecast-nvml-fake-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
        let fake = Fake { folder: std::env::temp_dir().join(name) };
        std::fs::create_dir(&fake.folder)?;
        let mut library = std::fs::read(built_library()?)?;
        for function in functions {
            hide(&mut library, function)?;
        }
        std::fs::write(fake.library(), library)?;
        fake.script(script)?;
        Ok(fake)
    }

    /// Returns the path of the copy.
    pub fn library(&self) -> PathBuf {
        self.folder.join("libnvidia-ml.so.1")
    }

    /// Returns the folder of the copy, for `LD_LIBRARY_PATH`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Replaces the script, which applies from the next call on and to calls that hang.
    ///
    /// # Errors
    /// If the script cannot be written.
    pub fn script(&self, script: &str) -> io::Result<()> {
        // Written to another file and renamed, so that no call reads a partial script.
        let new = self.folder.join("new.script");
        std::fs::write(&new, script)?;
        std::fs::rename(new, self.folder.join("libnvidia-ml.so.1.script"))
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Finds the library that Cargo built: in the folder of the running program, in the folder above, or in the `deps` of
/// either.
///
/// Cargo builds the `cdylib` together with the `rlib` that a test links, and puts it into `target/<profile>/deps` beside the
/// tests; or into the folder above if the package was built by itself.
///
/// # Errors
/// If the library is in none of these folders.
pub fn built_library() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    let name = format!("{}tracecast_nvml_fake{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let folders = program.ancestors().skip(1).take(2);
    let mut places = folders.flat_map(|folder| [folder.join(&name), folder.join("deps").join(&name)]);
    places.find(|path| path.is_file()).ok_or_else(|| {
        let text = format!("`{name}` is not beside {}; build `tracecast-nvml-fake`", program.display());
        io::Error::new(io::ErrorKind::NotFound, text)
    })
}

/// Hides a function by changing its name to another of the same length. The linker still finds the entry by the hash of the old
/// name, but the comparison of the names fails.
fn hide(library: &mut [u8], function: &str) -> io::Result<()> {
    let name = [b"\0", function.as_bytes(), b"\0"].concat();
    let places: Vec<_> = (0..library.len()).filter(|&at| library[at..].starts_with(&name)).collect();
    for &at in &places {
        library[at + 1] = b'X';
    }
    let missing = || io::Error::new(io::ErrorKind::NotFound, format!("the fake has no function `{function}`"));
    if places.is_empty() { Err(missing()) } else { Ok(()) }
}
