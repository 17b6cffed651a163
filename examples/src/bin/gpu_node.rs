//! Shows the gauges of a GPU node in the terminal. The driver is fake, so this runs anywhere.
//!
//! An unknown value is a gap, not a 0 and not the last value repeated: after a few rounds one GPU falls off the bus.
//! On a real node leave `with_library` out.

use std::time::Duration;

use tracecast::testing::{MetricsConfig, MetricsGuard, PointValue, Snapshot, Temporality};
use tracecast_nvml::Config;
use tracecast_nvml_fake::Fake;

const ROUNDS: u32 = 4;
const INTERVAL: Duration = Duration::from_millis(250);
const GAUGES: [(&str, &str); 5] = [
    ("tc_gpu_up", "up"),
    ("tc_gpu_utilization_percent", "%"),
    ("tc_gpu_memory_used_bytes", "bytes"),
    ("tc_gpu_temperature_celsius", "°C"),
    ("tc_gpu_power_watts", "W"),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Metrics are read here, in memory. A service calls `tracecast::init()` instead, and the same gauges are exported.
    let metering = MetricsGuard::start(MetricsConfig::default())?;
    let mut reader = metering.reader(Temporality::Cumulative);
    let fake = Fake::new("gpus = 2")?;
    let config = Config::default().with_interval(INTERVAL).with_devices(["0", "1"]).with_host(false);
    let monitor = tracecast_nvml::start(config.with_library(fake.library()));
    for round in 1..=ROUNDS {
        if round == ROUNDS / 2 + 1 {
            println!("GPU 1 falls off the bus");
            fake.script("gpus = 2\ngpu1.fail = 15")?;
        }
        // Values older than three intervals become gaps.
        std::thread::sleep(INTERVAL * 4);
        show(round, &reader.snapshot());
    }
    monitor.shutdown();
    Ok(())
}

fn show(round: u32, snapshot: &Snapshot) {
    for gpu in ["0", "1"] {
        let shown = |(name, unit): (&str, &str)| match snapshot.value(name, &[("gpu", gpu)]).map(PointValue::as_f64) {
            Some(value) => format!("{value:>12.0} {unit:<6}"),
            None => format!("{:>12} {unit:<6}", "-"),
        };
        println!("round {round}  GPU {gpu} {}", GAUGES.map(shown).concat().trim_end());
    }
}
