//! What the monitor costs with eight GPUs: `cargo run --release -p tracecast-nvml --example figures`.
//!
//! The driver is the fake, whose calls cost more than most of a real one's, as each reads a script. So the same calls are
//! made without the monitor too, and both are printed: what is beyond them is ours. With `-- conventions` metrics have the
//! names of the semantic conventions.

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
/// The kernel counts the time of a thread in steps of some milliseconds, so a round takes many of those.
const TIMES: u32 = 4000;
const ROUNDS: u32 = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Where a driver sleeps until there is an event, this looks for one when a wait begins and when it ends.
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

/// How long the monitor waits for an XID before it looks around.
const WAIT: Duration = Duration::from_millis(500);

/// What it takes to read all metrics: the median of some rounds, each of many.
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

/// What the calls of a sample take without a monitor, without those about single links.
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

/// What a wait takes that brings nothing: a short one, as the time that it sleeps costs nothing.
fn wait(nvml: &Nvml) -> Result<Duration, Box<dyn std::error::Error>> {
    let gpu = nvml.device_by_index(0)?;
    let set = gpu.register_events(EventTypes::CRITICAL_XID_ERROR, nvml.create_event_set()?).map_err(|e| e.error)?;
    let before = cpu()?;
    for _ in 0..TIMES {
        let _ = set.wait(1);
    }
    Ok((cpu()? - before) / TIMES)
}
