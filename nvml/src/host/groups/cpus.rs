//! CPU time of each CPU, and the load averages.

use std::path::Path;

use super::metrics::*;
use crate::held::{Held, parsed};
use crate::host::TICKS;
use crate::host::parse::{self, MODES};
use crate::host::show::ALL_MODES;
use crate::names::show;
use crate::total::Total;

const PERIODS: [Period; 3] = [Period::One, Period::Five, Period::Fifteen];

pub(super) struct Load(Option<Held>);

impl Load {
    pub(super) fn open(root: &Path) -> Self {
        Load(Held::open(&root.join("proc/loadavg")))
    }

    pub(super) fn sample(&mut self) {
        let averages = parsed(&mut self.0, |text| Some(averages(text))).unwrap_or_default();
        for (period, average) in PERIODS.into_iter().zip(averages) {
            show!(LOAD(period) = average);
        }
    }

    pub(super) fn clear() {
        PERIODS.into_iter().for_each(|period| LOAD.clear((period,)));
    }
}

/// Parses `0.12 0.34 0.56 1/234 5678`.
fn averages(text: &str) -> [Option<f64>; 3] {
    let mut columns = text.strip_suffix('\n').unwrap_or_default().split(' ');
    std::array::from_fn(|_| columns.next()?.parse().ok())
}

pub(super) struct PerCpu {
    file: Option<Held>,
    /// The counts of each CPU, by its number.
    totals: Vec<[Total; MODES]>,
}

/// The most CPUs that are read; further ones are left out.
const MOST: usize = 1024;

impl PerCpu {
    pub(super) fn open(root: &Path) -> Self {
        PerCpu { file: Held::open(&root.join("proc/stat")), totals: Vec::new() }
    }

    pub(super) fn sample(&mut self) {
        let Some(text) = self.file.as_mut().and_then(Held::read) else { return };
        for (number, ticks) in cores(&text) {
            if self.totals.len() <= number {
                self.totals.resize_with(number + 1, Default::default);
            }
            for ((ticks, total), mode) in ticks.into_iter().zip(&mut self.totals[number]).zip(ALL_MODES) {
                if let Some(ticks) = ticks {
                    CORE_SECONDS.add(total.advance_to(ticks) as f64 / TICKS, (number as u32, mode));
                }
            }
        }
    }
}

/// Parses the lines `cpu0 ..`, `cpu1 ..` and so on.
fn cores(stat: &str) -> impl Iterator<Item = (usize, [Option<u64>; MODES])> {
    stat.split_inclusive('\n').filter_map(|line| {
        let (number, columns) = line.strip_suffix('\n')?.strip_prefix("cpu")?.split_once(' ')?;
        Some((number.parse().ok().filter(|number| *number < MOST)?, parse::ticks(columns)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_are_three() {
        assert_eq!(averages("0.12 3.40 56.00 1/234 5678\n"), [Some(0.12), Some(3.4), Some(56.0)]);
        assert_eq!((averages(""), averages("0.12 3.4")), ([None; 3], [None; 3]));
    }

    #[test]
    fn cores_have_their_numbers() {
        let text = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu11 1 0 0 2\nintr 1 2\ncpu12 1 2";
        let all: Vec<_> = cores(text).collect();
        let old = [Some(1), Some(0), Some(0), Some(2), None, None, None];
        assert_eq!(all, [(0, [1, 2, 3, 4, 5, 6 + 7, 8].map(Some)), (11, old)]);
    }
}
