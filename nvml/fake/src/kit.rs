//! The library for a test: a copy of its own, with a script of its own.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A driver that has other functions than the newest that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Driver {
    /// One from before MIG: no second versions of calls, none of the newer ones.
    Old,
    /// One of CUDA 14, which has dropped what CUDA 13 deprecated.
    Cuda14,
}

impl Driver {
    /// The functions that it does not have.
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

/// A copy of the fake in a folder of its own, as `libnvidia-ml.so.1`; both go when this is dropped.
///
/// A copy is another library to the linker: it has its own script and its own state, so that several can be used in one
/// process at the same time.
#[derive(Debug)]
pub struct Fake {
    folder: PathBuf,
}

impl Fake {
    /// A copy that does what `script` says.
    ///
    /// # Errors
    /// If the library was not built, or cannot be copied.
    pub fn new(script: &str) -> io::Result<Self> {
        Self::without(&[], script)
    }

    /// A copy that has the functions of another driver.
    ///
    /// # Errors
    /// If the library was not built, or cannot be copied.
    pub fn of(driver: Driver, script: &str) -> io::Result<Self> {
        Self::without(driver.lacks(), script)
    }

    /// A copy that answers as the driver did of which [`record`](crate::record()) wrote this.
    ///
    /// # Errors
    /// If the library was not built, cannot be copied, or never had a function that the driver lacks.
    pub fn replay(recording: &str) -> io::Result<Self> {
        let lacks = recording.lines().find_map(|line| line.strip_prefix("lacks =")).unwrap_or_default();
        Self::without(&lacks.split_whitespace().collect::<Vec<_>>(), recording)
    }

    /// A copy in which these functions do not exist, as in the library of another driver.
    ///
    /// # Errors
    /// If the library was not built, cannot be copied, or never had such a function.
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

    /// Where the copy lies.
    pub fn library(&self) -> PathBuf {
        self.folder.join("libnvidia-ml.so.1")
    }

    /// The folder that it lies in, for `LD_LIBRARY_PATH`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Has it do something else from its next call on; a call that hangs looks again too.
    ///
    /// # Errors
    /// If the script cannot be written.
    pub fn script(&self, script: &str) -> io::Result<()> {
        // Renamed into its place, so that no call reads half of it.
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

/// Where Cargo put the library: beside the program that runs, or one folder above.
///
/// Cargo builds the `cdylib` together with the `rlib` that a test links, and puts it into `target/<profile>/deps`, where
/// tests lie too; it is one folder above those if the package was built by itself.
///
/// # Errors
/// If it is in neither.
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

/// Gives a function another name of the same length. The linker finds it by a hash of the old name and then sees that it
/// is not the one.
fn hide(library: &mut [u8], function: &str) -> io::Result<()> {
    let name = [b"\0", function.as_bytes(), b"\0"].concat();
    let places: Vec<_> = (0..library.len()).filter(|&at| library[at..].starts_with(&name)).collect();
    for &at in &places {
        library[at + 1] = b'X';
    }
    let missing = || io::Error::new(io::ErrorKind::NotFound, format!("the fake has no function `{function}`"));
    if places.is_empty() { Err(missing()) } else { Ok(()) }
}
