//! Measures the cost of the monitor with eight GPUs: `cargo run --release -p tracecast-nvml --example figures`.
//!
//! The driver is the fake, whose calls cost more than most calls of a real driver, because each reads a script. So the same calls
//! are also made without the monitor, and both costs are printed: the difference is the monitor's own. With `-- conventions` the
//! metrics use conventional names.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use nvml_wrapper::Nvml;
use nvml_wrapper::bitmasks::event::EventTypes;
use nvml_wrapper::enum_wrappers::device::{Clock, EccCounter, MemoryError, TemperatureSensor};
use tracecast::testing::{MetricsConfig, MetricsGuard, Reader, Temporality};
use tracecast_nvml::{Config, Names};
use tracecast_nvml_fake::Fake;

const GPUS: u32 = 8;
const INTERVAL: Duration = Duration::from_secs(5);
const WATCHED: Duration = Duration::from_secs(30);
/// The kernel counts the time of a thread in steps of some milliseconds, so a round has to take many steps.
const TIMES: u32 = 4000;
const ROUNDS: u32 = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The fake polls for events, here only at the start and the end of a wait; a driver sleeps until an event occurs.
    let fake = Fake::new(&format!("gpus = {GPUS}; event_pause = 60"))?;
    let metering = MetricsGuard::start(MetricsConfig::default())?;
    let mut reader = metering.reader(Temporality::Cumulative);
    let config = Config::default().with_interval(INTERVAL).with_library(fake.library());
    let config = config.with_devices((0..GPUS).map(|index| index.to_string()));

    let is_conventional = std::env::args().any(|argument| argument == "conventions");
    let names = if is_conventional { Names::SemanticConventions } else { Names::Tracecast };
    let monitor = tracecast_nvml::start(config.with_names(names));
    collections(&mut reader)?;

    let before = threads()?;
    std::thread::sleep(WATCHED);
    for (kind, nanos) in threads()? {
        let used = nanos.saturating_sub(before.get(&kind).copied().unwrap_or(0)) as f64;
        println!("{kind}: {:.4} % of a core", used / WATCHED.as_nanos() as f64 * 100.0);
    }
    let nvml = Nvml::builder().lib_path(fake.library().as_os_str()).init()?;
    let sample = sample(&nvml)?;
    let share = |cost: Duration, every: Duration| cost.as_secs_f64() * f64::from(GPUS) / every.as_secs_f64() * 100.0;
    println!("the calls of a sample alone: {sample:?}; of {GPUS} GPUs: {:.4} % of a core", share(sample, INTERVAL));
    let wait = wait(&nvml)?;
    println!("a wait for XIDs alone: {wait:?}; of {GPUS} GPUs: {:.4} % of a core", share(wait, WAIT));
    let start = Instant::now();
    monitor.shutdown();
    println!("shutdown: {:?}", start.elapsed());
    Ok(())
}

/// The monitor's timeout for one wait for an XID.
const WAIT: Duration = Duration::from_millis(500);

/// Prints the cost of reading all metrics: the median of several rounds of many readings.
fn collections(reader: &mut Reader) -> std::io::Result<()> {
    std::thread::sleep(INTERVAL + INTERVAL / 2);
    let series: usize = reader.snapshot().metrics.iter().map(|metric| metric.points.len()).sum();
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let before = cpu()?;
        (0..TIMES).for_each(|_| drop(reader.snapshot()));
        rounds.push((cpu()? - before) / TIMES);
    }
    rounds.sort_unstable();
    let (least, median) = (rounds[0], rounds[rounds.len() / 2]);
    println!("a collection with {GPUS} GPUs, {series} series: {median:?} of CPU, {least:?} at best");
    Ok(())
}

/// Returns the CPU time of this thread, which other programs of the machine do not affect.
fn cpu() -> std::io::Result<Duration> {
    Ok(Duration::from_nanos(ran(Path::new("/proc/thread-self"))?))
}

fn ran(task: &Path) -> std::io::Result<u64> {
    let text = std::fs::read_to_string(task.join("schedstat"))?;
    Ok(text.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0))
}

/// Returns the CPU time of the monitor's threads in nanoseconds, by kind.
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

/// Returns the cost of a sample's calls without the monitor, except those for single links.
fn sample(nvml: &Nvml) -> Result<Duration, Box<dyn std::error::Error>> {
    let gpu = nvml.device_by_index(0)?;
    let fields = [82, 142, 143, 144, 145, 29, 30, 31, 230, 74, 75, 76, 77, 78, 79, 197, 198];
    let links = [91, 138, 139, 38, 45, 52, 59];
    let fields = fields.map(nvml_wrapper::structs::device::FieldId);
    let links = links.map(nvml_wrapper::structs::device::FieldId);
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
        gpu.encoder_utilization()?;
        gpu.decoder_utilization()?;
        for counter in [EccCounter::Volatile, EccCounter::Aggregate] {
            gpu.total_ecc_errors(MemoryError::Corrected, counter)?;
            gpu.total_ecc_errors(MemoryError::Uncorrected, counter)?;
        }
        gpu.pcie_replay_counter()?;
        gpu.running_compute_processes_count()?;
        gpu.field_values_for(&fields)?;
        gpu.field_values_for(&links)?;
        gpu.mig_mode()?;
    }
    Ok((cpu()? - before) / TIMES)
}

/// Returns the cost of a wait without an event. The wait is short, because sleeping costs no CPU time.
fn wait(nvml: &Nvml) -> Result<Duration, Box<dyn std::error::Error>> {
    let gpu = nvml.device_by_index(0)?;
    let set = gpu.register_events(EventTypes::CRITICAL_XID_ERROR, nvml.create_event_set()?).map_err(|e| e.error)?;
    let before = cpu()?;
    for _ in 0..TIMES {
        let _ = set.wait(1);
    }
    Ok((cpu()? - before) / TIMES)
}
