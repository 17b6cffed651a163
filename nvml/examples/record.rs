//! Records the answers of this machine's NVIDIA driver, for a test that needs no GPU:
//! `cargo run -p tracecast-nvml --example record > nvml/tests/drivers/<driver>-<gpu>.script`.
//!
//! Only reading calls are made. UUIDs, serial numbers, PCI bus ids and processes are left out. An argument selects another
//! library: `-- /opt/nvidia/lib64/libnvidia-ml.so.1`.

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let library = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("libnvidia-ml.so.1"), PathBuf::from);
    print!("{}", tracecast_nvml_fake::record(&library)?);
    Ok(())
}
