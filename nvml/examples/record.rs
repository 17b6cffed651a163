//! Writes down every answer of this machine's NVIDIA driver, for a test that needs no GPU:
//! `cargo run -p tracecast-nvml --example record > nvml/tests/drivers/<driver>-<gpu>.script`.
//!
//! Only calls that read are made. UUIDs, serial numbers, places on the bus and processes are left out. Another library than the driver's
//! own may be named: `-- /opt/nvidia/lib64/libnvidia-ml.so.1`.

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let library = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("libnvidia-ml.so.1"), PathBuf::from);
    print!("{}", tracecast_nvml_fake::record(&library)?);
    Ok(())
}
