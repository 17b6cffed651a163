//! The GPUs of a monitor: a slot for each UUID, and the index whose threads fill it.
//!
//! Threads belong to indices of the driver, because the driver is queried by index and a call that hangs must not delay other
//! GPUs. Slots belong to UUIDs. A thread that reads the UUID at its index claims the slot of that GPU, whichever index the GPU
//! had before; the slot ignores a late answer for the old index.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::config::Config;
use crate::event::Events;
use crate::gpu::fault::Fault;
use crate::gpu::filter::Filter;
use crate::gpu::label;
use crate::gpu::metrics::MOST_GPUS;
use crate::gpu::slot::Slot;
use crate::gpu::view::Gpu;
use crate::names::Names;

pub(crate) struct Registry {
    filter: Filter,
    names: Names,
    window: Duration,
    events: Arc<Events>,
    gpus: Mutex<Gpus>,
    /// Whether a GPU was left out because all labels are taken.
    is_full: AtomicBool,
}

#[derive(Default)]
struct Gpus {
    /// The indices of the driver that have or had threads.
    places: BTreeMap<u32, Place>,
    /// The slots, by label.
    slots: BTreeMap<u32, Arc<Slot>>,
    /// The number of the threads that were started most recently.
    newest: u64,
    /// Whether the monitor has ended; no slot is added then.
    ended: bool,
}

/// The state of an index of the driver.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The threads with this number serve the index.
    Taken(u64),
    /// The GPU at the index was not selected. Another GPU may be there by now.
    Refused,
}

/// An index that needs threads, and the slot that they fill until the UUID is known, if there is one.
pub(crate) struct Vacancy {
    pub(crate) index: u32,
    /// The number of the threads; earlier threads of this index have another one.
    pub(crate) number: u64,
    pub(crate) slot: Option<Arc<Slot>>,
}

impl Registry {
    pub(crate) fn new(filter: Filter, config: &Config, events: Arc<Events>) -> Self {
        let (names, window) = (config.names, config.window);
        Registry { filter, names, window, events, gpus: Mutex::default(), is_full: AtomicBool::new(false) }
    }

    fn lock(&self) -> MutexGuard<'_, Gpus> {
        self.gpus.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the indices below `count` that need threads. An index keeps its threads, even while they hang.
    pub(crate) fn vacancies(&self, count: u32) -> Vec<Vacancy> {
        let mut gpus = self.lock();
        if gpus.ended {
            return Vec::new();
        }
        let mut vacancies = Vec::new();
        for index in 0..count.min(MOST_GPUS) {
            let place = gpus.places.get(&index).copied();
            if matches!(place, Some(Place::Taken(_))) || self.filter.selects(index, count, None) == Some(false) {
                continue;
            }
            // A GPU that hangs before its UUID is read is shown under its index, unless the GPU there was not selected before.
            let is_new = place.is_none() && !gpus.slots.contains_key(&index);
            let slot = is_new.then(|| self.add(&mut gpus, index, index));
            gpus.newest += 1;
            let number = gpus.newest;
            gpus.places.insert(index, Place::Taken(number));
            vacancies.push(Vacancy { index, number, slot });
        }
        vacancies
    }

    fn add(&self, gpus: &mut Gpus, label: u32, index: u32) -> Arc<Slot> {
        let slot = Arc::new(Slot::new(label, self.names, self.window, self.events.clone()));
        slot.take(index);
        gpus.slots.insert(label, slot.clone());
        slot
    }

    /// Returns the slot of the GPU that was found at `index` of `count`; `None` if the GPU is not selected or gets no label.
    pub(crate) fn claim(&self, index: u32, count: u32, uuid: &str) -> Option<Arc<Slot>> {
        let is_wanted = self.filter.selects(index, count, Some(uuid)) == Some(true);
        let label = is_wanted.then(|| label::assign(uuid, index, count)).flatten();
        if is_wanted && label.is_none() && !self.is_full.swap(true, Relaxed) {
            log::warn!(target: "tracecast_nvml", "{MOST_GPUS} GPUs were seen since the process started; further ones are not monitored");
        }
        let mut gpus = self.lock();
        self.leave(&mut gpus, index, label);
        label::set_at(index, label);
        let label = label.filter(|_| !gpus.ended)?;
        let slot = gpus.slots.get(&label).cloned();
        let slot = slot.unwrap_or_else(|| self.add(&mut gpus, label, index));
        slot.take(index);
        Some(slot)
    }

    /// Releases the slots filled from this index, except that of the GPU with this label. A slot without a UUID is
    /// removed.
    fn leave(&self, gpus: &mut Gpus, index: u32, label: Option<u32>) {
        gpus.slots.retain(|of_slot, slot| {
            if Some(*of_slot) == label || !slot.is_filled_from(index) {
                return true;
            }
            if slot.has_uuid() {
                slot.lose(index, Fault::NotFound);
                slot.leave();
            } else {
                slot.retire();
            }
            slot.has_uuid()
        });
    }

    /// Notes that the threads of this index end because its GPU is not selected.
    pub(crate) fn refuse(&self, index: u32) {
        self.lock().places.insert(index, Place::Refused);
    }

    /// Removes the GPUs that no thread has served for longer than `after` and that the filter selects at no free index.
    /// Such a GPU may be at an index where it is not selected.
    pub(crate) fn forget_unwanted(&self, count: u32, after: Duration) {
        let mut gpus = self.lock();
        let slots = gpus.slots.values();
        let filled: Vec<u32> =
            (0..MOST_GPUS).filter(|index| slots.clone().any(|slot| slot.is_filled_from(*index))).collect();
        gpus.slots.retain(|_, slot| {
            let is_sought = |uuid: &str| {
                let mut free = (0..MOST_GPUS).filter(|index| !filled.contains(index));
                free.any(|index| self.filter.selects(index, count, Some(uuid)) == Some(true))
            };
            let is_forgotten = slot.uuid_if_left_for(after).is_some_and(|uuid| !is_sought(&uuid));
            if is_forgotten {
                slot.retire();
            }
            !is_forgotten
        });
    }

    /// Returns the slot that is filled from this index, once the UUID of its GPU is known.
    pub(crate) fn at(&self, index: u32) -> Option<Arc<Slot>> {
        self.lock().slots.values().find(|slot| slot.is_filled_from(index) && slot.has_uuid()).cloned()
    }

    /// Returns whether the threads with this number still serve this index.
    pub(crate) fn is_taken(&self, index: u32, number: u64) -> bool {
        self.lock().places.get(&index) == Some(&Place::Taken(number))
    }

    /// Returns all GPUs for the program, in the order of their labels.
    pub(crate) fn views(&self) -> Vec<Gpu> {
        self.lock().slots.values().filter_map(|slot| slot.view()).collect()
    }

    /// Returns whether any GPU is suspended. Loading the library could wake such a GPU.
    pub(crate) fn is_any_asleep(&self) -> bool {
        self.lock().slots.values().any(|slot| slot.is_asleep())
    }

    /// Checks the age of all GPUs' values.
    pub(crate) fn watch(&self, interval: Duration, stale_after: Duration) {
        // The lock is released first, because a slot logs.
        let slots: Vec<_> = self.lock().slots.values().cloned().collect();
        slots.iter().for_each(|slot| slot.watch(interval, stale_after));
    }

    /// Ends all slots; later vacancies and claims give none.
    pub(crate) fn end(&self) {
        let slots = {
            let mut gpus = self.lock();
            gpus.ended = true;
            std::mem::take(&mut gpus.slots)
        };
        slots.values().for_each(|slot| slot.end());
    }
}
