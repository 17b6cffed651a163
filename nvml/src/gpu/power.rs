//! Detects suspended GPUs, as on laptops, from sysfs. A query of the driver would wake them.

use std::path::{Path, PathBuf};

use crate::held::{Held, parsed};

/// The kernel's runtime power status of a GPU.
pub(crate) struct Power(Option<Held>);

impl Power {
    /// Opens the status file of the GPU with this PCI bus id.
    pub(crate) fn open(sysfs: &Path, bus_id: &str) -> Self {
        Power(Held::open(&status_file(sysfs, bus_id)))
    }

    /// Returns whether the GPU is suspended or about to be. A GPU without a status file counts as awake.
    pub(crate) fn is_asleep(&mut self) -> bool {
        let is_asleep = |text: &str| Some(matches!(text.trim_end(), "suspended" | "suspending"));
        parsed(&mut self.0, is_asleep).unwrap_or(false)
    }
}

fn status_file(sysfs: &Path, bus_id: &str) -> PathBuf {
    let bus_id = bus_id.to_ascii_lowercase();
    // NVML writes the PCI domain with eight digits, sysfs with four.
    let short = bus_id.strip_prefix("0000").filter(|short| short.find(':') == Some(4)).unwrap_or(&bus_id);
    sysfs.join("bus/pci/devices").join(short).join("power/runtime_status")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_on_the_bus_is_spelt_as_sysfs_does() {
        let check = |bus_id, expected: &str| {
            let expected = format!("/sys/bus/pci/devices/{expected}/power/runtime_status");
            assert_eq!(status_file(Path::new("/sys"), bus_id), Path::new(&expected));
        };
        check("00000000:0A:00.0", "0000:0a:00.0");
        check("0000:0A:00.0", "0000:0a:00.0");
        check("00010000:01:00.0", "00010000:01:00.0");
    }

    #[test]
    fn a_gpu_without_the_file_is_awake() {
        assert!(!Power::open(Path::new("/nonexistent"), "0000:01:00.0").is_asleep());
    }
}
