//! The state of the machine, which `/proc` shows in a container too.

use std::path::Path;

use super::parse::{self, MODES};
use super::pressure::{Pressure, Stalls};
use crate::held::{Held, parsed};

/// A reading of the machine. `None` is a gap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct State {
    pub(super) cpu_ticks: [Option<u64>; MODES],
    /// The share of CPU time in each mode since the last reading.
    pub(super) cpu_shares: [Option<f64>; MODES],
    pub(super) cpus: Option<u64>,
    pub(super) memory: Option<u64>,
    pub(super) available: Option<u64>,
    pub(super) kinds: Kinds,
    pub(super) stalls: Stalls,
}

/// Memory by use, in the order of `parse::kinds`.
pub(super) type Kinds = [Option<u64>; 4];

pub(super) struct Machine {
    stat: Option<Held>,
    online: Option<Held>,
    meminfo: Option<Held>,
    pressure: Pressure,
    last_ticks: [Option<u64>; MODES],
}

impl Machine {
    /// Opens the files below `root`.
    pub(super) fn open(root: &Path) -> Self {
        Machine {
            stat: Held::open(&root.join("proc/stat")),
            online: Held::open(&root.join("sys/devices/system/cpu/online")),
            meminfo: Held::open(&root.join("proc/meminfo")),
            pressure: Pressure::open(&root.join("proc/pressure"), ""),
            last_ticks: [None; MODES],
        }
    }

    pub(super) fn is_absent(&self) -> bool {
        self.stat.is_none() && self.meminfo.is_none()
    }

    pub(super) fn read(&mut self) -> State {
        let (cpu_ticks, cpu_shares) = self.read_cpu();
        let (memory, available, kinds) = self.read_memory();
        let cpus = parsed(&mut self.online, parse::cpus);
        State { cpu_ticks, cpu_shares, cpus, memory, available, kinds, stalls: self.pressure.read() }
    }

    pub(super) fn read_cpu(&mut self) -> ([Option<u64>; MODES], [Option<f64>; MODES]) {
        let ticks = parsed(&mut self.stat, |text| Some(parse::cpu_ticks(text))).unwrap_or_default();
        let before = std::mem::replace(&mut self.last_ticks, ticks);
        (ticks, shares(before, ticks))
    }

    pub(super) fn read_memory(&mut self) -> (Option<u64>, Option<u64>, Kinds) {
        let all = |text: &str| Some((parse::bytes(text, "MemTotal"), parse::available(text), parse::kinds(text)));
        parsed(&mut self.meminfo, all).unwrap_or_default()
    }
}

/// Returns each mode's share of the ticks between two readings.
fn shares(before: [Option<u64>; MODES], now: [Option<u64>; MODES]) -> [Option<f64>; MODES] {
    let mut passed = [None; MODES];
    for (passed, (now, before)) in passed.iter_mut().zip(now.into_iter().zip(before)) {
        // Some modes, such as `iowait`, occasionally decrease a little.
        *passed = now.zip(before).map(|(now, before)| now.saturating_sub(before) as f64);
    }
    let all: f64 = passed.iter().flatten().sum();
    passed.map(|passed| passed.filter(|_| all > 0.0).map(|passed| passed / all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_time_since_the_last_reading() {
        let before = [100, 0, 50, 1000, 7, 0, 0].map(Some);
        let now = [130, 0, 60, 1060, 5, 0, 0].map(Some);
        assert_eq!(shares(before, now), [0.3, 0.0, 0.1, 0.6, 0.0, 0.0, 0.0].map(Some));
    }

    #[test]
    fn without_a_reading_before_or_time_between_there_are_none() {
        let now = [130, 0, 60, 1060, 5, 0, 0].map(Some);
        assert_eq!(shares([None; MODES], now), [None; MODES]);
        assert_eq!(shares(now, [None; MODES]), [None; MODES]);
        assert_eq!(shares(now, now), [None; MODES]);
    }

    #[test]
    fn modes_that_the_kernel_does_not_know_are_none() {
        let (mut before, mut now) = ([None; MODES], [None; MODES]);
        (before[0], before[3], now[0], now[3]) = (Some(10), Some(10), Some(20), Some(40));
        let shares = shares(before, now);
        assert_eq!((shares[0], shares[3], shares[6]), (Some(0.25), Some(0.75), None));
    }
}
