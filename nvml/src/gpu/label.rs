//! The label `gpu` of each UUID. It is assigned once per process, because counters keep their values for the life of the process.
//!
//! Programs read labels where they work on a GPU, so every function except `assign` uses atomics only.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::gpu::metrics::MOST_GPUS;

/// The UUID of each label.
static UUIDS: [OnceLock<Box<str>>; MOST_GPUS as usize] = [const { OnceLock::new() }; MOST_GPUS as usize];
/// The label of the GPU at each index of the driver, plus 1; 0 if it is not known.
static AT_INDEX: [AtomicU32; MOST_GPUS as usize] = [const { AtomicU32::new(0) }; MOST_GPUS as usize];

/// Returns the label of the GPU with this UUID, which is currently at `index` of `count`. A new GPU gets its index as label
/// unless another GPU ever had that label. `None` if all labels are taken.
pub(crate) fn assign(uuid: &str, index: u32, count: u32) -> Option<u32> {
    static ASSIGNING: Mutex<()> = Mutex::new(());
    let _assigning = ASSIGNING.lock().unwrap_or_else(PoisonError::into_inner);
    let known = (0..MOST_GPUS).find(|label| text(*label) == Some(uuid));
    known.or_else(|| {
        // Labels from `count` on come first, so that GPUs that are still unknown can get their own indices.
        let count = count.min(MOST_GPUS);
        let label = [index].into_iter().chain(count..MOST_GPUS).chain(0..count).find(|label| text(*label).is_none())?;
        UUIDS.get(label as usize)?.set(uuid.into()).ok()?;
        Some(label)
    })
}

fn text(label: u32) -> Option<&'static str> {
    UUIDS.get(label as usize)?.get().map(|uuid| &**uuid)
}

/// Returns the label of a GPU whose UUID starts with `start`; `None` if there is none.
pub(crate) fn of_uuid(start: &str) -> Option<u32> {
    (0..MOST_GPUS).find(|label| text(*label).is_some_and(|uuid| uuid.starts_with(start)))
}

/// Returns the label of the GPU at this driver index. If that GPU is not identified yet, returns the index itself, or
/// `None` if the GPU at another index has that label.
pub(crate) fn of_index(index: u32) -> Option<u32> {
    let at = |index: u32| AT_INDEX.get(index as usize).and_then(|label| label.load(Relaxed).checked_sub(1));
    at(index).or_else(|| (0..MOST_GPUS).all(|other| at(other) != Some(index)).then_some(index))
}

/// Stores the label of the GPU at this driver index; `None` if that GPU has no label.
pub(crate) fn set_at(index: u32, label: Option<u32>) {
    if let Some(at) = AT_INDEX.get(index as usize) {
        at.store(label.map_or(0, |label| label + 1), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // This is one test because labels are global.
    #[test]
    fn a_uuid_has_one_label_and_an_index_the_gpu_that_is_there() {
        assert_eq!((of_index(0), of_index(MOST_GPUS), of_uuid("GPU-a")), (Some(0), Some(MOST_GPUS), None));
        assert_eq!((assign("GPU-a", 0, 2), assign("GPU-b", 1, 2)), (Some(0), Some(1)));
        // A known GPU keeps its label at any index; a new one gets another if its index is taken.
        assert_eq!((assign("GPU-a", 1, 2), assign("GPU-c", 0, 2), assign("GPU-d", 3, 4)), (Some(0), Some(2), Some(3)));
        assert_eq!((of_uuid("GPU-b"), of_uuid("GPU-x")), (Some(1), None));
        set_at(1, Some(0));
        // Index 0 has another GPU, which is unknown.
        assert_eq!((of_index(1), of_index(0), of_index(2)), (Some(0), None, Some(2)));
        set_at(1, None);
        assert_eq!(of_index(0), Some(0));
        for number in 4..MOST_GPUS {
            assert_eq!(assign(&format!("GPU-{number}"), number, MOST_GPUS), Some(number));
        }
        assert_eq!((assign("GPU-one-too-many", 0, 1), assign("GPU-c", 0, 1)), (None, Some(2)));
    }
}
