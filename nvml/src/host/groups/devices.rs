//! Counts of devices that appear and disappear.

use crate::total::Total;

/// The most devices whose counts are kept. Further ones are not measured: a machine with so many creates and removes them
/// constantly.
const MOST: usize = 256;

/// The last `N` counts of each device.
pub(super) struct Devices<const N: usize>(Vec<Device<N>>);

struct Device<const N: usize> {
    name: String,
    totals: [Total; N],
    is_there: bool,
}

impl<const N: usize> Devices<N> {
    pub(super) fn new() -> Self {
        Devices(Vec::new())
    }

    /// Begins a reading. `end` removes the devices that were not read since.
    pub(super) fn begin(&mut self) {
        self.0.iter_mut().for_each(|device| device.is_there = false);
    }

    pub(super) fn end(&mut self) {
        self.0.retain(|device| device.is_there);
    }

    /// Returns the increases since the last reading: zeros for a new device, `None` if there are too many devices.
    pub(super) fn advance(&mut self, name: &str, counts: [u64; N]) -> Option<[u64; N]> {
        let known = self.0.iter().position(|device| device.name == name);
        let at = known.unwrap_or(self.0.len());
        if known.is_none() {
            if at == MOST {
                return None;
            }
            let totals = std::array::from_fn(|_| Total::default());
            self.0.push(Device { name: name.to_owned(), totals, is_there: true });
        }
        let device = &mut self.0[at];
        device.is_there = true;
        let mut counts = counts.into_iter();
        Some(device.totals.each_mut().map(|total| total.advance(counts.next().unwrap_or(0))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_come_and_go() {
        let mut devices = Devices::<2>::new();
        let mut read = |all: &[(&str, [u64; 2])]| {
            devices.begin();
            let came = all.iter().map(|(name, counts)| devices.advance(name, *counts).unwrap()).collect::<Vec<_>>();
            devices.end();
            came
        };
        assert_eq!(read(&[("eth0", [100, 1]), ("lo", [7, 7])]), [[0, 0], [0, 0]]);
        assert_eq!(read(&[("lo", [8, 7]), ("eth0", [150, 3])]), [[1, 0], [50, 2]]);
        // A lower count is that of a new device, which counts from 0.
        assert_eq!(read(&[("eth0", [20, 3])]), [[20, 0]]);
        assert_eq!(read(&[("lo", [500, 9]), ("eth0", [20, 4])]), [[0, 0], [0, 1]]);
    }

    #[test]
    fn there_is_an_end_of_them() {
        let mut devices = Devices::<1>::new();
        let kept = (0..1000).filter(|number| devices.advance(&format!("eth{number}"), [1]).is_some()).count();
        assert_eq!(kept, MOST);
    }
}
