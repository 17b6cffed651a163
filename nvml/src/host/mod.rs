//! The machine, this process and its container, from `/proc` and the files of cgroups.
//!
//! In a container `/proc` speaks of the machine; what the process may use is said by its cgroup.

mod cgroup;
mod metrics;
mod parse;

use std::path::{Path, PathBuf};
use std::time::Instant;

use self::cgroup::{Cgroup, Usage};
use self::metrics::*;
use crate::config::Config;
use crate::held::{Held, parsed};
use crate::stop::Stop;
use crate::total::Total;

/// Ticks of `/proc` in a second. It is 100 wherever NVIDIA has a driver.
const TICKS: f64 = 100.0;

const MODES: [Mode; parse::MODES] =
    [Mode::User, Mode::Nice, Mode::System, Mode::Idle, Mode::Iowait, Mode::Irq, Mode::Softirq, Mode::Steal];

/// The thread that reads the files, until the end.
pub(crate) fn run(config: &Config, stop: &Stop) {
    let mut host = Host::open(Path::new("/"));
    if host.stat.is_none() {
        log::info!(target: "tracecast_nvml", "no /proc here: metrics of the host and the process are absent");
        return;
    }
    loop {
        let reading = host.read();
        reading.show();
        host.count(&reading);
        if stop.wait(config.interval) {
            Reading::default().show();
            return;
        }
    }
}

/// What was read. `None` is a gap.
#[derive(Debug, Default, PartialEq)]
struct Reading {
    cpu_ticks: [Option<u64>; parse::MODES],
    cpus: Option<u64>,
    memory: Option<u64>,
    available: Option<u64>,
    resident: Option<u64>,
    virtual_size: Option<u64>,
    threads: Option<u64>,
    files: Option<u64>,
    process_ticks: Option<(u64, u64)>,
    container: Usage,
    quota_used: Option<f64>,
}

struct Host {
    stat: Option<Held>,
    meminfo: Option<Held>,
    process_stat: Option<Held>,
    process_status: Option<Held>,
    open_files: PathBuf,
    cgroup: Cgroup,
    /// When the CPU time of the container was read last, and what it was.
    last_cpu: Option<(Instant, u64)>,
    totals: Totals,
}

#[derive(Default)]
struct Totals {
    system: [Total; parse::MODES],
    process: [Total; 2],
    cpu: Total,
    periods: Total,
    throttled_periods: Total,
    throttled: Total,
}

impl Host {
    /// Opens the files below `root`.
    fn open(root: &Path) -> Self {
        let proc = root.join("proc");
        Host {
            stat: Held::open(&proc.join("stat")),
            meminfo: Held::open(&proc.join("meminfo")),
            process_stat: Held::open(&proc.join("self/stat")),
            process_status: Held::open(&proc.join("self/status")),
            open_files: proc.join("self/fd"),
            cgroup: Cgroup::open(root),
            last_cpu: None,
            totals: Totals::default(),
        }
    }

    fn read(&mut self) -> Reading {
        let of_stat = parsed(&mut self.stat, |text| Some((parse::cpu_ticks(text), parse::cpus(text))));
        let (cpu_ticks, cpus) = of_stat.unwrap_or_default();
        let of_memory = |text: &str| Some((parse::bytes(text, "MemTotal"), parse::available(text)));
        let (memory, available) = parsed(&mut self.meminfo, of_memory).unwrap_or_default();
        let of_status = |text: &str| {
            let [resident, virtual_size] = ["VmRSS", "VmSize"].map(|key| parse::bytes(text, key));
            Some((resident, virtual_size, parse::number(text, "Threads")))
        };
        let (resident, virtual_size, threads) = parsed(&mut self.process_status, of_status).unwrap_or_default();
        let container = self.cgroup.read();
        Reading {
            cpu_ticks,
            cpus,
            memory,
            available,
            resident,
            virtual_size,
            threads,
            files: open_files(&self.open_files),
            process_ticks: parsed(&mut self.process_stat, parse::process_ticks),
            quota_used: self.quota_used(&container, Instant::now()),
            container,
        }
    }

    fn quota_used(&mut self, container: &Usage, now: Instant) -> Option<f64> {
        let cpu = container.cpu_nanos?;
        let (then, before) = self.last_cpu.replace((now, cpu))?;
        let passed = now.saturating_duration_since(then).as_nanos() as f64;
        (passed > 0.0).then_some(cpu.checked_sub(before)? as f64 / passed / container.cpu_quota?)
    }

    /// Adds to the counters what came since the last reading. The kernel's never begin again, but some of them, as that of
    /// `iowait`, now and then fall a little.
    fn count(&mut self, reading: &Reading) {
        let totals = &mut self.totals;
        for ((ticks, total), mode) in reading.cpu_ticks.into_iter().zip(&mut totals.system).zip(MODES) {
            if let Some(ticks) = ticks {
                SYSTEM_CPU.add(total.advance_to(ticks) as f64 / TICKS, (mode,));
            }
        }
        if let Some((user, system)) = reading.process_ticks {
            let [of_user, of_system] = &mut totals.process;
            PROCESS_CPU.add(of_user.advance_to(user) as f64 / TICKS, (ProcessMode::User,));
            PROCESS_CPU.add(of_system.advance_to(system) as f64 / TICKS, (ProcessMode::System,));
        }
        let container = &reading.container;
        if let Some(nanos) = container.cpu_nanos {
            CONTAINER_CPU.add(totals.cpu.advance_to(nanos) as f64 / 1e9, ());
        }
        if let Some(periods) = container.periods {
            CONTAINER_PERIODS.add(totals.periods.advance_to(periods), ());
        }
        if let Some(periods) = container.throttled_periods {
            CONTAINER_THROTTLED_PERIODS.add(totals.throttled_periods.advance_to(periods), ());
        }
        if let Some(nanos) = container.throttled_nanos {
            CONTAINER_THROTTLED.add(totals.throttled.advance_to(nanos) as f64 / 1e9, ());
        }
    }
}

impl Reading {
    fn show(&self) {
        macro_rules! show {
            ($($gauge:ident = $value:expr;)+) => {$(
                match $value {
                    Some(value) => $gauge.set(value, ()),
                    None => $gauge.clear(()),
                }
            )+};
        }
        show! {
            SYSTEM_CPUS = self.cpus;
            SYSTEM_MEMORY = self.memory;
            SYSTEM_AVAILABLE = self.available;
            PROCESS_RESIDENT = self.resident;
            PROCESS_VIRTUAL = self.virtual_size;
            PROCESS_THREADS = self.threads;
            PROCESS_FILES = self.files;
            CONTAINER_MEMORY = self.container.memory;
            CONTAINER_WORKING_SET = self.container.working_set;
            CONTAINER_MEMORY_LIMIT = self.container.memory_limit;
            CONTAINER_QUOTA = self.container.cpu_quota;
            CONTAINER_QUOTA_USED = self.quota_used;
        }
    }
}

/// How many files are open.
fn open_files(folder: &Path) -> Option<u64> {
    // Since Linux 6.2 the size of the folder says it; before that it is 0.
    let size = std::fs::metadata(folder).ok()?.len();
    // The one that lists them is not meant.
    if size > 0 { Some(size) } else { (std::fs::read_dir(folder).ok()?.count() as u64).checked_sub(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str) -> Host {
        Host::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name))
    }

    #[test]
    fn a_recorded_kernel_is_read() {
        let reading = host("linux-6.18-cgroup-v1").read();
        assert_eq!(reading.cpu_ticks, [821_571, 0, 153_167, 296_904, 5110, 0, 1931, 4507].map(Some));
        assert_eq!(reading.cpus, Some(2));
        assert_eq!(reading.memory, Some(24_682_416 * 1024));
        assert!(reading.available.is_some_and(|available| available < 24_682_416 * 1024));
        assert_eq!((reading.process_ticks, reading.threads), (Some((0, 0)), Some(1)));
        assert!(reading.resident.is_some_and(|resident| resident > 0) && reading.resident < reading.virtual_size);
    }

    #[test]
    fn an_old_kernel_says_less() {
        let reading = host("written-cgroup-v2").read();
        let [user, nice, system, idle, rest @ ..] = reading.cpu_ticks;
        assert_eq!([user, nice, system, idle], [1000, 20, 300, 4000].map(Some));
        assert_eq!(rest, [None; 4]);
        assert_eq!(reading.available, Some(500_000 * 1024));
        assert_eq!((reading.process_ticks, reading.threads), (Some((250, 150)), Some(5)));
        assert_eq!((reading.resident, reading.virtual_size), (Some(1616 * 1024), Some(3060 * 1024)));
    }

    #[test]
    fn where_there_is_nothing_nothing_is_known() {
        assert_eq!(host("nowhere").read(), Reading::default());
    }

    #[test]
    fn use_of_the_quota_is_what_came_since_the_last_reading() {
        let mut host = host("nowhere");
        let start = Instant::now();
        let usage = |cpu| Usage { cpu_nanos: Some(cpu), cpu_quota: Some(2.0), ..Usage::default() };
        let after = |seconds| start + std::time::Duration::from_secs(seconds);
        assert_eq!(host.quota_used(&usage(1_000_000_000), start), None);
        assert_eq!(host.quota_used(&usage(6_000_000_000), after(5)), Some(0.5));
        // A time that went back is a gap, not a negative use.
        assert_eq!(host.quota_used(&usage(1_000_000_000), after(10)), None);
        assert_eq!(host.quota_used(&Usage::default(), after(15)), None);
    }

    #[test]
    fn every_file_may_be_cut_anywhere() {
        let stat = std::fs::read_to_string(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded/linux-6.18-cgroup-v1/proc/stat"),
        )
        .unwrap();
        for end in 0..stat.find('\n').unwrap() {
            assert_eq!(parse::cpu_ticks(&stat[..end]), [None; parse::MODES]);
        }
    }
}
