//! A system without `/proc`: nothing is measured, and one line says so. A program of its own: it installs a logger.

mod kit;

use std::sync::Mutex;

use kit::{Watched, value};
use tracecast_nvml::Config;

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Logger;

impl log::Log for Logger {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.target() == "tracecast_nvml"
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            LINES.lock().unwrap().push(record.args().to_string());
        }
    }

    fn flush(&self) {}
}

fn said() -> Vec<String> {
    let lines = LINES.lock().unwrap();
    lines.iter().filter(|line| line.contains("are absent")).cloned().collect()
}

#[test]
fn one_line_and_no_metrics() {
    log::set_logger(&Logger).unwrap();
    log::set_max_level(log::LevelFilter::Info);
    let empty = std::env::temp_dir().join(format!("tracecast-no-host-{}", std::process::id()));
    std::fs::create_dir_all(&empty).unwrap();
    let mut watched = Watched::new();
    let config = Config::default().with_interval(kit::INTERVAL).with_library("/nonexistent/libnvidia-ml.so.1");
    let monitor = tracecast_nvml::start(config.with_host_root(&empty));
    watched.until("it is said", |_| !said().is_empty());
    // Others go on.
    let snapshot = watched.until("the driver is looked for", |now| {
        value(now, "tc_nvml_available", &[("reason", "library_absent")]) == Some(0.0)
    });
    let is_of_host = |name: &str| ["tc_system_", "tc_process_", "tc_container_"].iter().any(|of| name.starts_with(of));
    let shown = snapshot.metrics.iter().filter(|metric| is_of_host(&metric.name) && !metric.points.is_empty());
    assert_eq!(shown.map(|metric| metric.name.to_string()).collect::<Vec<_>>(), [""; 0]);
    monitor.shutdown();
    assert_eq!(said().len(), 1, "{:?}", said());
    assert!(said()[0].contains(&format!("`{}`", empty.display())), "{:?}", said());
    std::fs::remove_dir_all(&empty).unwrap();
}
