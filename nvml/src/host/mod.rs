//! Measures the machine, this process and its container, from `/proc` and cgroup files.
//!
//! In a container `/proc` describes the machine; the limits of the process are in its cgroup.

#[cfg(feature = "__internals")]
pub mod bench;
mod cgroup;
mod groups;
mod machine;
mod metrics;
mod mounts;
mod parse;
mod pressure;
mod process;
mod quota;
mod show;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::Instant;

use self::cgroup::{Cgroup, Usage};
use self::groups::Groups;
use self::machine::Machine;
use self::process::Process;
use self::show::{ContainerTotals, Totals};
use crate::config::Config;
use crate::names::Names;
use crate::stop::Stop;

/// Clock ticks of `/proc` per second: 100 on all platforms with an NVIDIA driver.
const TICKS: f64 = 100.0;

/// Samples the host until the monitor ends.
pub(crate) fn run(config: &Config, stop: &Stop) {
    let mut host = Host::open(&config.host_root);
    let mut groups = Groups::open(&config.host_root, &config.host_groups);
    if host.is_absent() {
        let root = config.host_root.display();
        log::info!(
            target: "tracecast_nvml",
            "no proc file system below `{root}`: metrics of the host, the process and its container are absent"
        );
        return;
    }
    if host.cgroup.is_absent() {
        log::debug!(target: "tracecast_nvml", "this process has no cgroup of its own: metrics of a container are absent");
    }
    loop {
        host.sample(config.names);
        groups.sample(config.names);
        if stop.wait(config.interval) {
            show::gauges(config.names, &Reading::default());
            groups.clear(config.names);
            return;
        }
    }
}

/// A reading of the host. `None` is a gap.
#[derive(Debug, Default, PartialEq)]
struct Reading {
    machine: machine::State,
    process: process::State,
    container: Usage,
    /// The container's CPU usage since the last reading, in CPUs.
    cpus_used: Option<f64>,
}

impl Reading {
    fn quota_used(&self) -> Option<f64> {
        Some(self.cpus_used? / self.container.cpu_quota?)
    }
}

struct Host {
    machine: Machine,
    process: Process,
    cgroup: Cgroup,
    /// The time and value of the last reading of the container's CPU time.
    last_cpu: Option<(Instant, u64)>,
    totals: Totals,
}

impl Host {
    /// Opens the files below `root`.
    fn open(root: &Path) -> Self {
        Host {
            machine: Machine::open(root),
            process: Process::open(root),
            cgroup: Cgroup::open(root),
            last_cpu: None,
            totals: Totals::default(),
        }
    }

    fn is_absent(&self) -> bool {
        self.machine.is_absent() && self.process.is_absent() && self.cgroup.is_absent()
    }

    fn sample(&mut self, names: Names) {
        let reading = self.read();
        show::gauges(names, &reading);
        show::counters(names, &reading, &mut self.totals);
    }

    fn read(&mut self) -> Reading {
        let (container, is_another) = self.cgroup.read();
        if is_another {
            (self.last_cpu, self.totals.container) = (None, ContainerTotals::default());
        }
        let cpus_used = self.cpus_used(container.cpu_nanos, Instant::now());
        Reading { machine: self.machine.read(), process: self.process.read(), container, cpus_used }
    }

    fn cpus_used(&mut self, nanos: Option<u64>, now: Instant) -> Option<f64> {
        let before = std::mem::replace(&mut self.last_cpu, nanos.map(|nanos| (now, nanos)));
        let ((then, before), nanos) = before.zip(nanos)?;
        let passed = now.saturating_duration_since(then).as_nanos() as f64;
        (passed > 0.0).then_some(nanos.checked_sub(before)? as f64 / passed)
    }
}
