//! Shows which pod and container a GPU or MIG instance is allocated to, with the kubelet's pod-resources API.
//!
//! A separate thread queries the kubelet periodically. Without an answer the metric is absent.

mod kubelet;
mod response;

use std::path::Path;
use std::time::Duration;

use tracecast::{tc_keys, tc_metrics};

use self::response::Allocation;
use crate::described::described;
use crate::stop::Stop;

/// The most allocations that are shown: enough for 16 GPUs with seven instances each, some of them shared.
const MOST: usize = 256;

described! {
    /// An allocation, by its place in the list.
    OfAllocation of MOST, in ALLOCATIONS: ["uuid", "namespace", "pod", "container"];
}

tc_keys! {
    /// The allocated GPU or MIG instance, with its pod and container.
    label of_allocation: OfAllocation = "tc.gpu.allocation";
}

tc_metrics! {
    /// 1 with the GPU or MIG instance that is allocated to a container.
    static POD_INFO: Gauge<(of_allocation,), u64> = "tc_gpu_pod_info";
}

/// Queries the kubelet behind a socket every `pause`, until the monitor ends.
pub(crate) fn run(socket: &Path, pause: Duration, stop: &Stop) {
    let mut shown = Shown::default();
    let mut answered = None;
    loop {
        let answer = kubelet::list(socket).and_then(|bytes| response::allocations(&bytes));
        if stop.is_set() {
            return shown.update(Vec::new());
        }
        let (allocations, outcome) = answer.map_or_else(|cause| (Vec::new(), Err(cause)), |found| (found, Ok(())));
        shown.update(allocations);
        // One line per change, not per attempt.
        if answered.replace(outcome.is_ok()) != Some(outcome.is_ok()) {
            report(socket, &outcome);
        }
        if stop.wait(pause) {
            return shown.update(Vec::new());
        }
    }
}

fn report(socket: &Path, outcome: &Result<(), String>) {
    let socket = socket.display();
    match outcome {
        Ok(()) => log::info!(target: "tracecast_nvml", "the kubelet at `{socket}` says which pods have GPUs"),
        Err(cause) => log::warn!(
            target: "tracecast_nvml",
            "no pods of GPUs: the kubelet at `{socket}` does not answer: {cause}; asking again now and then"
        ),
    }
}

/// The allocations that are shown. The position of an allocation is its ordinal and does not change while the allocation lasts.
#[derive(Default)]
struct Shown(Vec<Option<Allocation>>);

impl Shown {
    fn update(&mut self, mut new: Vec<Allocation>) {
        new.sort();
        new.dedup();
        for (ordinal, place) in self.0.iter_mut().enumerate() {
            match place.as_ref().map(|allocation| new.binary_search(allocation)) {
                Some(Ok(at)) => drop(new.remove(at)),
                Some(Err(_)) => {
                    *place = None;
                    POD_INFO.clear((OfAllocation(ordinal),));
                }
                None => {}
            }
        }
        for allocation in new {
            let free = self.0.iter().position(Option::is_none).unwrap_or(self.0.len());
            if free == MOST {
                break;
            }
            ALLOCATIONS.set(free, allocation.texts());
            if free == self.0.len() {
                self.0.push(Some(allocation));
            } else {
                self.0[free] = Some(allocation);
            }
        }
        // Set each time, because metrics may have been switched on meanwhile.
        let shown = self.0.iter().enumerate().filter(|(_, place)| place.is_some());
        shown.for_each(|(ordinal, _)| POD_INFO.set(1_u64, (OfAllocation(ordinal),)));
    }
}

#[cfg(test)]
mod tests {
    use tracecast::Label;

    use super::*;

    fn allocation(pod: &str) -> Allocation {
        Allocation::new("GPU-1", "default", pod, "main")
    }

    #[test]
    fn an_allocation_keeps_its_place_and_a_free_one_is_taken_again() {
        let mut shown = Shown::default();
        let pods = |shown: &Shown| {
            let pod = |place: &Option<Allocation>| place.as_ref().map(|allocation| allocation.texts()[2].clone());
            shown.0.iter().map(pod).collect::<Vec<_>>()
        };
        let named =
            |names: &[&str]| names.iter().map(|name| (*name != "-").then(|| (*name).to_owned())).collect::<Vec<_>>();
        shown.update(vec![allocation("b"), allocation("a"), allocation("b")]);
        assert_eq!(pods(&shown), named(&["a", "b"]));
        shown.update(vec![allocation("b")]);
        assert_eq!(pods(&shown), named(&["-", "b"]));
        shown.update(vec![allocation("c"), allocation("b"), allocation("d")]);
        assert_eq!(pods(&shown), named(&["c", "b", "d"]));
        assert_eq!([0, 1, 2, 3].map(|part| OfAllocation::part(2, part)), ["GPU-1", "default", "d", "main"]);
        shown.update((0..1000).map(|number| allocation(&number.to_string())).collect());
        assert_eq!(shown.0.iter().flatten().count(), MOST);
        shown.update(Vec::new());
        assert_eq!(shown.0.iter().flatten().count(), 0);
    }
}
