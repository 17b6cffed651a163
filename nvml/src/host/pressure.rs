//! Pressure stall times for CPUs, memory and I/O, from `/proc/pressure` or a cgroup.

use std::path::Path;

use super::parse;
use crate::held::{Held, parsed};

/// Microseconds for which some tasks waited, and for which all did; for CPUs, memory and I/O.
pub(super) type Stalls = [[Option<u64>; 2]; 3];

#[derive(Default)]
pub(super) struct Pressure([Option<Held>; 3]);

impl Pressure {
    /// Opens `cpu`, `memory` and `io` in this directory, each with `suffix`. Kernels before 4.20 lack the files, and later ones
    /// can disable them.
    pub(super) fn open(folder: &Path, suffix: &str) -> Self {
        Pressure(["cpu", "memory", "io"].map(|name| Held::open(&folder.join(format!("{name}{suffix}")))))
    }

    pub(super) fn is_absent(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    pub(super) fn read(&mut self) -> Stalls {
        let stalls = |text: &str| Some(["some", "full"].map(|who| parse::stall(text, who)));
        self.0.each_mut().map(|file| parsed(file, stalls).unwrap_or_default())
    }
}
