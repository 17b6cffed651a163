//! A monitor, the fake driver that it looks at, and a reader of what it says.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tracecast::testing::{MetricsConfig, MetricsGuard, PointValue, Reader, Snapshot, Temporality};
use tracecast_nvml::{Config, Monitor};
use tracecast_nvml_fake::Fake;

static TURN: Mutex<()> = Mutex::new(());

/// What the monitor logged during this turn.
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// How often the fake is asked.
pub(crate) const INTERVAL: Duration = Duration::from_millis(100);
/// Far longer than anything takes here.
pub(crate) const LONGEST: Duration = Duration::from_secs(30);

/// Metrics are on, and read by nobody else.
pub(crate) struct Watched {
    reader: Reader,
    metering: Option<MetricsGuard>,
    _turn: MutexGuard<'static, ()>,
}

impl Watched {
    pub(crate) fn new() -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        // It fails for all tests but the first, which has done it.
        let _ = log::set_logger(&Logger).map(|()| log::set_max_level(log::LevelFilter::Info));
        lines().clear();
        let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
        Watched { reader: metering.reader(Temporality::Cumulative), metering: Some(metering), _turn: turn }
    }

    /// Switches metrics off and on again; it is still nobody else's turn.
    pub(crate) fn restart(&mut self) {
        drop(self.metering.take());
        let metering = self.metering.insert(MetricsGuard::start(MetricsConfig::default()).unwrap());
        self.reader = metering.reader(Temporality::Cumulative);
    }

    pub(crate) fn snapshot(&mut self) -> Snapshot {
        self.reader.snapshot()
    }

    /// A snapshot of which this is true, and was true of the one before: metrics are read one after the other, so the first
    /// may have a GPU that is up and lack what came with it.
    pub(crate) fn until(&mut self, what: &str, holds: impl Fn(&Snapshot) -> bool) -> Snapshot {
        let start = Instant::now();
        loop {
            let held = holds(&self.snapshot());
            let snapshot = self.snapshot();
            if held && holds(&snapshot) {
                return snapshot;
            }
            assert!(start.elapsed() < LONGEST, "not in {LONGEST:?}: {what}; there is\n{snapshot}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A monitor of a fake; fields drop in their order.
pub(crate) struct Bench {
    pub(crate) monitor: Option<Monitor>,
    pub(crate) watched: Watched,
    pub(crate) fake: Fake,
}

impl Bench {
    pub(crate) fn new(script: &str) -> Self {
        Self::without(&[], script)
    }

    pub(crate) fn without(functions: &[&str], script: &str) -> Self {
        Self::with(Fake::without(functions, script).unwrap(), |config| config)
    }

    /// With a setting of its own.
    pub(crate) fn with(fake: Fake, change: impl FnOnce(Config) -> Config) -> Self {
        let watched = Watched::new();
        let monitor = Some(tracecast_nvml::start(change(config(&fake))));
        Bench { monitor, watched, fake }
    }

    /// With a GPU of which the second that is returned says whether it sleeps: `active` or `suspended`.
    pub(crate) fn that_can_sleep(gpu: u32, script: &str) -> (Self, impl Fn(&str)) {
        let fake = Fake::new(script).unwrap();
        let folder = fake.folder().join(format!("bus/pci/devices/0000:{:02}:00.0/power", gpu + 1));
        std::fs::create_dir_all(&folder).unwrap();
        let status = move |text: &str| std::fs::write(folder.join("runtime_status"), text).unwrap();
        status("active\n");
        let sysfs = fake.folder().to_owned();
        (Self::with(fake, |config| config.with_sysfs(sysfs)), status)
    }

    pub(crate) fn until(&mut self, what: &str, holds: impl Fn(&Snapshot) -> bool) -> Snapshot {
        self.watched.until(what, holds)
    }

    /// Sends XIDs until one is counted; the next number is free.
    pub(crate) fn until_watched(&mut self, gpu: u32, script: &str) -> u64 {
        let counted = |now: &Snapshot| xids(now, &gpu.to_string(), "13").is_some();
        self.until_reported(1, |number| format!("{script}; xid = {number}:{gpu}:13"), counted)
    }

    /// Sends XIDs until this holds, as those that come before a GPU is watched are not seen; the next number is free.
    pub(crate) fn until_reported(
        &mut self,
        first: u64,
        script: impl Fn(u64) -> String,
        holds: impl Fn(&Snapshot) -> bool,
    ) -> u64 {
        let start = Instant::now();
        for number in first.. {
            self.fake.script(&script(number)).unwrap();
            std::thread::sleep(Duration::from_millis(20));
            if holds(&self.watched.snapshot()) {
                return number + 1;
            }
            assert!(start.elapsed() < LONGEST, "nobody watches: {}", script(number));
        }
        unreachable!("there are enough numbers")
    }

    /// Has a GPU sampled ten times more, while this holds: whatever another one would have done by then is seen.
    pub(crate) fn through_samples_of(&mut self, gpu: u32, script: &str, holds: impl Fn(&Snapshot) -> bool) -> bool {
        (1..=10).all(|watts| {
            self.fake.script(&format!("{script}; gpu{gpu}.power = {watts}000")).unwrap();
            let power = |now: &Snapshot| of(now, "tc_gpu_power_watts", &gpu.to_string());
            holds(&self.until("it is sampled again", |now| power(now) == Some(f64::from(watts))))
        })
    }
}

pub(crate) fn config(fake: &Fake) -> Config {
    // All of them, whatever the environment of the tests says.
    let devices = (0..32).map(|index| index.to_string());
    Config::default().with_interval(INTERVAL).with_library(fake.library()).with_devices(devices).with_host(false)
}

/// The value of a metric with these labels.
pub(crate) fn value(snapshot: &Snapshot, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    match snapshot.value(name, labels)? {
        PointValue::U64(value) => Some(*value as f64),
        PointValue::I64(value) => Some(*value as f64),
        PointValue::F64(value) => Some(*value),
        other => panic!("{name} is {other:?}"),
    }
}

/// The value of a metric of one GPU.
pub(crate) fn of(snapshot: &Snapshot, name: &str, gpu: &str) -> Option<f64> {
    value(snapshot, name, &[("gpu", gpu)])
}

pub(crate) fn up(snapshot: &Snapshot, gpu: &str) -> Option<f64> {
    of(snapshot, "tc_gpu_up", gpu)
}

/// Whether the info metric of a GPU says this.
pub(crate) fn is_described(snapshot: &Snapshot, gpu: &str, label: &str, text: &str) -> bool {
    labels_of(snapshot, "tc_gpu_info", &[("gpu", gpu)]).iter().any(|(name, value)| name == label && value == text)
}

/// All labels of the only series of a metric that has these.
pub(crate) fn labels_of(snapshot: &Snapshot, name: &str, labels: &[(&str, &str)]) -> Vec<(String, String)> {
    let points = snapshot.metric(name).map(|metric| &*metric.points).unwrap_or_default();
    let all = points.iter().map(|point| {
        let pairs = point.labels.iter().map(|(name, text)| (name.to_string(), text.to_string()));
        pairs.collect::<Vec<_>>()
    });
    let has = |pairs: &Vec<(String, String)>| {
        labels.iter().all(|(name, text)| pairs.iter().any(|(own, value)| own == name && value == text))
    };
    let mut found: Vec<_> = all.filter(has).collect();
    assert!(found.len() < 2, "{name} has several series with {labels:?}: {found:?}");
    found.pop().unwrap_or_default()
}

/// How often a GPU reported an XID.
pub(crate) fn xids(snapshot: &Snapshot, gpu: &str, xid: &str) -> Option<f64> {
    value(snapshot, "tc_gpu_xid_errors_total", &[("gpu", gpu), ("xid", xid)])
}

/// Keeps the log lines of the monitor.
struct Logger;

impl log::Log for Logger {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.target() == "tracecast_nvml"
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            lines().push(record.args().to_string());
        }
    }

    fn flush(&self) {}
}

fn lines() -> MutexGuard<'static, Vec<String>> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The log lines since this test's turn began that contain this.
pub(crate) fn logged(text: &str) -> Vec<String> {
    lines().iter().filter(|line| line.contains(text)).cloned().collect()
}
