//! Measures the cost of a host sample: `cargo run --release -p tracecast-nvml --example host_cost`.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use tracecast::testing::{MetricsConfig, MetricsGuard};
use tracecast_nvml::__bench::HostReader;
use tracecast_nvml::Names;

const TIMES: u32 = 10;
const ATTEMPTS: u32 = 300;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let _metering = MetricsGuard::start(MetricsConfig::default())?;
    let mut reader = HostReader::open(Path::new("/"));
    for (name, read) in HostReader::PARTS {
        println!("{name}: {:?}", each(|| read(&mut reader)));
    }
    println!("a whole sample, with its metrics: {:?}", each(|| reader.sample(Names::Tracecast)));

    // As many files as the process may open, up to 100 000.
    let files: Vec<File> = (0..100_000).map_while(|_| File::open("/dev/null").ok()).collect();
    for (name, read) in HostReader::PARTS.iter().filter(|(name, _)| *name == "open files") {
        println!("{name}, when there are {}: {:?}", files.len(), each(|| read(&mut reader)));
    }
    Ok(())
}

/// Returns the time of one run: the minimum of many short attempts, because other programs of the machine also take time.
fn each(mut made: impl FnMut()) -> Duration {
    let attempt = |_| {
        let start = Instant::now();
        (0..TIMES).for_each(|_| made());
        start.elapsed() / TIMES
    };
    (0..ATTEMPTS).map(attempt).min().unwrap_or_default()
}
