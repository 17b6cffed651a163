//! Decodes the kubelet's protobuf answer: `ListPodResourcesResponse` of `k8s.io/kubelet/pkg/apis/podresources/v1`.

use std::str::from_utf8;

/// The prefix of the resources of NVIDIA's device plugin: `nvidia.com/gpu`, `nvidia.com/mig-1g.10gb`.
const RESOURCES: &str = "nvidia.com/";

/// A GPU or MIG instance, and the container to which it is allocated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Allocation([String; 4]);

impl Allocation {
    pub(super) fn new(uuid: &str, namespace: &str, pod: &str, container: &str) -> Self {
        Allocation([uuid, namespace, pod, container].map(str::to_owned))
    }

    /// Returns the values in the order of the label's attributes.
    pub(super) fn texts(&self) -> [String; 4] {
        self.0.clone()
    }
}

/// Returns the allocations of an answer. Devices without a UUID are left out.
pub(super) fn allocations(response: &[u8]) -> Result<Vec<Allocation>, String> {
    let mut allocations = Vec::new();
    read(response, &mut allocations).ok_or("its answer is not a list of pods")?;
    Ok(allocations)
}

fn read(response: &[u8], allocations: &mut Vec<Allocation>) -> Option<()> {
    for pod in Fields(response).of(1)? {
        let (name, namespace) = (Fields(pod).text(1)?, Fields(pod).text(2)?);
        for container in Fields(pod).of(3)? {
            let container_name = Fields(container).text(1)?;
            for devices in Fields(container).of(2)? {
                if !Fields(devices).text(1)?.starts_with(RESOURCES) {
                    continue;
                }
                for id in Fields(devices).of(2)? {
                    // A shared device has a replica number: `GPU-5a3c::2`.
                    let uuid = from_utf8(id).ok()?.split("::").next()?;
                    if uuid.starts_with("GPU-") || uuid.starts_with("MIG-") {
                        allocations.push(Allocation::new(uuid, namespace, name, container_name));
                    }
                }
            }
        }
    }
    Some(())
}

/// A protobuf message, as its fields.
#[derive(Clone, Copy)]
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// Returns all length-delimited values of one field; `None` if the message is malformed.
    fn of(self, number: u64) -> Option<Vec<&'a [u8]>> {
        let (mut rest, mut values) = (self.0, Vec::new());
        while !rest.is_empty() {
            let tag = varint(&mut rest)?;
            let value = match tag & 7 {
                0 => varint(&mut rest).map(|_| None)?,
                1 => take(&mut rest, 8).map(|_| None)?,
                2 => {
                    let length = usize::try_from(varint(&mut rest)?).ok()?;
                    Some(take(&mut rest, length)?)
                }
                5 => take(&mut rest, 4).map(|_| None)?,
                _ => return None,
            };
            values.extend(value.filter(|_| tag >> 3 == number));
        }
        Some(values)
    }

    /// Returns the last value of a field as text, empty if there is none; `None` if the message is malformed or the value is not
    /// UTF-8.
    fn text(self, number: u64) -> Option<&'a str> {
        from_utf8(self.of(number)?.pop().unwrap_or_default()).ok()
    }
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = take(rest, 1)?[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u8, value: &[u8]) -> Vec<u8> {
        assert!(value.len() < 128, "lengths of one byte are enough here");
        [&[number << 3 | 2, value.len() as u8], value].concat()
    }

    fn response() -> Vec<u8> {
        let ids = [field(2, b"GPU-1::0"), field(2, b"MIG-2"), field(2, b"7")].concat();
        // With an integer field, and a field that a later version may add.
        let devices = [field(1, b"nvidia.com/gpu"), ids, vec![5 << 3, 0x96, 1], field(9, b"later")].concat();
        let other = [field(1, b"example.com/nic"), field(2, b"GPU-9")].concat();
        let container = [field(1, b"main"), field(2, &devices), field(2, &other)].concat();
        field(1, &[field(1, b"pod"), field(2, b"ns"), field(3, &container)].concat())
    }

    #[test]
    fn gpus_and_instances_are_found_and_nothing_else() {
        let expected = [Allocation::new("GPU-1", "ns", "pod", "main"), Allocation::new("MIG-2", "ns", "pod", "main")];
        assert_eq!(allocations(&response()).unwrap(), expected);
        assert_eq!(allocations(&[]).unwrap(), []);
    }

    #[test]
    fn an_answer_that_is_cut_or_damaged_is_no_list_and_never_a_panic() {
        let whole = response();
        let cut = (1..whole.len()).filter(|end| allocations(&whole[..*end]).is_ok()).count();
        assert_eq!(cut, 0);
        for at in 0..whole.len() {
            for value in [0, 0x7f, 0x80, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = value;
                let _ = allocations(&damaged);
            }
        }
    }
}
