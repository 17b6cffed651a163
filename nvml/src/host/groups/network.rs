//! Metrics of the network interfaces in this process's network namespace, from `/proc/net/dev`.

use std::path::Path;

use tracecast::InternedKey;

use super::devices::Devices;
use super::metrics::*;
use crate::held::Held;
use crate::names::{Names, add_as};

/// Received, then sent: bytes, packets, errors and dropped packets.
type Counts = [u64; 8];

/// The name prefixes of container and VM interfaces, which are ignored: a busy machine creates hundreds a day.
const OF_CONTAINERS: [&str; 5] = ["veth", "cali", "lxc", "cni", "tap"];

pub(super) struct Network {
    file: Option<Held>,
    devices: Devices<8>,
}

impl Network {
    pub(super) fn open(root: &Path) -> Self {
        Network { file: Held::open(&root.join("proc/net/dev")), devices: Devices::new() }
    }

    pub(super) fn sample(&mut self, names: Names) {
        let Some(text) = self.file.as_mut().and_then(Held::read) else { return };
        self.devices.begin();
        for (name, counts) in interfaces(&text) {
            let Some(came) = self.devices.advance(name, counts) else { continue };
            let [received, sent] = [&came[..4], &came[4..]];
            for (way, came) in [(Direction::Receive, received), (Direction::Transmit, sent)] {
                let ours = device::intern(name);
                let theirs = (interface_name::intern(name), system_device::intern(name));
                add_as!(names, ours::NETWORK_BYTES(ours, way), conventional::NETWORK_BYTES(theirs.0, way) += came[0]);
                add_as!(
                    names,
                    ours::NETWORK_PACKETS(ours, way),
                    conventional::NETWORK_PACKETS(theirs.1, way) += came[1]
                );
                add_as!(names, ours::NETWORK_ERRORS(ours, way), conventional::NETWORK_ERRORS(theirs.0, way) += came[2]);
                add_as!(
                    names,
                    ours::NETWORK_DROPPED(ours, way),
                    conventional::NETWORK_DROPPED(theirs.0, way) += came[3]
                );
            }
        }
        self.devices.end();
    }
}

/// Parses `eth0: 100 1 0 0 0 0 0 0 200 2 0 0 0 0 0 0`. A line without a line break is truncated and ignored.
fn interfaces(text: &str) -> impl Iterator<Item = (&str, Counts)> {
    text.split_inclusive('\n').filter_map(|line| {
        let (name, counts) = line.strip_suffix('\n')?.split_once(':')?;
        let name = name.trim();
        let mut columns = counts.split_whitespace().map(|count| count.parse().ok());
        let mut four =
            || -> Option<[u64; 4]> { Some([columns.next()??, columns.next()??, columns.next()??, columns.next()??]) };
        let (received, _, sent) = (four()?, four()?, four()?);
        let is_of_container = OF_CONTAINERS.iter().any(|start| name.starts_with(start));
        let [a, b, c, d] = received;
        let [e, f, g, h] = sent;
        (!is_of_container).then_some((name, [a, b, c, d, e, f, g, h]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_have_eight_counts() {
        let text = "Inter-| Receive | Transmit\n face |bytes packets|bytes packets\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n\
            vethab12: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\neth0:1 2 3 4 5 6 7 8 90 10 11 12 13 14 15 16\n  eth1: 1 2 3\n\
            eth2: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16";
        let all: Vec<_> = interfaces(text).collect();
        assert_eq!(all, [("lo", [1, 2, 3, 4, 9, 10, 11, 12]), ("eth0", [1, 2, 3, 4, 90, 10, 11, 12])]);
    }
}
