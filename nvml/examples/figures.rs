//! What the monitor costs with eight GPUs: `cargo run --release -p tracecast-nvml --example figures`.
//!
//! The driver is the fake, whose calls cost more than most of a real one's, as each reads a script. So the same calls are
//! made without the monitor too, and both are printed. Where a driver sleeps until there is an XID, the fake looks every
//! 10 ms: that is what `tracecast-xid` costs here.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::{Clock, EccCounter, MemoryError, TemperatureSensor};
use nvml_wrapper::structs::device::FieldId;
use tracecast::{Metering, MeteringConfig, Temporality};
use tracecast_nvml::Config;
use tracecast_nvml_fake::Fake;

const GPUS: u32 = 8;
const INTERVAL: Duration = Duration::from_secs(5);
const WATCHED: Duration = Duration::from_secs(30);
const TIMES: u32 = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fake = Fake::new(&format!("gpus = {GPUS}"))?;
    let metering = Metering::start(MeteringConfig::default())?;
    let mut reader = metering.reader(Temporality::Cumulative);
    let config = Config::default().with_interval(INTERVAL).with_library(fake.library());
    let monitor = tracecast_nvml::start(config.with_devices((0..GPUS).map(|index| index.to_string())));
    std::thread::sleep(INTERVAL + INTERVAL / 2);

    let series: usize = reader.snapshot().metrics.iter().map(|metric| metric.points.len()).sum();
    let before = cpu()?;
    for _ in 0..TIMES {
        drop(reader.snapshot());
    }
    println!("a collection with {GPUS} GPUs, {series} series: {:?} of CPU", (cpu()? - before) / TIMES);

    let before = threads()?;
    std::thread::sleep(WATCHED);
    for (kind, nanos) in threads()? {
        let used = nanos.saturating_sub(before.get(&kind).copied().unwrap_or(0)) as f64;
        println!("{kind}: {:.4} % of a core", used / WATCHED.as_nanos() as f64 * 100.0);
    }
    let direct = direct(&fake)?;
    let share = direct.as_secs_f64() * f64::from(GPUS) / INTERVAL.as_secs_f64() * 100.0;
    println!("the calls of one sample alone, made directly: {direct:?}; of {GPUS} GPUs: {share:.4} % of a core");
    let start = Instant::now();
    monitor.shutdown();
    println!("shutdown: {:?}", start.elapsed());
    Ok(())
}

/// How long this thread has run: other programs of the machine take nothing of it.
fn cpu() -> std::io::Result<Duration> {
    Ok(Duration::from_nanos(ran(Path::new("/proc/thread-self"))?))
}

fn ran(task: &Path) -> std::io::Result<u64> {
    let text = std::fs::read_to_string(task.join("schedstat"))?;
    Ok(text.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0))
}

/// Nanoseconds that the monitor's threads have run, by what they do.
fn threads() -> std::io::Result<BTreeMap<String, u64>> {
    let mut sums = BTreeMap::new();
    for task in std::fs::read_dir("/proc/self/task")? {
        let task = task?.path();
        let name = std::fs::read_to_string(task.join("comm"))?;
        if name.starts_with("tracecast-") {
            let kind = name.trim().trim_end_matches(|c: char| c == '-' || c.is_ascii_digit());
            *sums.entry(kind.to_owned()).or_default() += ran(&task)?;
        }
    }
    Ok(sums)
}

/// What the calls of a sample take without a monitor.
fn direct(fake: &Fake) -> Result<Duration, Box<dyn std::error::Error>> {
    let nvml = Nvml::builder().lib_path(fake.library().as_os_str()).init()?;
    let gpu = nvml.device_by_index(0)?;
    let fields = [82, 142, 143, 144, 145].map(FieldId);
    let before = cpu()?;
    for _ in 0..TIMES {
        gpu.utilization_rates()?;
        gpu.memory_info()?;
        gpu.temperature(TemperatureSensor::Gpu)?;
        gpu.power_usage()?;
        gpu.enforced_power_limit()?;
        gpu.total_energy_consumption()?;
        gpu.clock_info(Clock::SM)?;
        gpu.clock_info(Clock::Memory)?;
        gpu.current_throttle_reasons()?;
        gpu.total_ecc_errors(MemoryError::Corrected, EccCounter::Volatile)?;
        gpu.total_ecc_errors(MemoryError::Uncorrected, EccCounter::Volatile)?;
        gpu.pcie_replay_counter()?;
        gpu.running_compute_processes_count()?;
        gpu.field_values_for(&fields)?;
        gpu.mig_mode()?;
    }
    Ok((cpu()? - before) / TIMES)
}
