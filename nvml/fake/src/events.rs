//! Event sets: the GPUs that each set watches, and the events that it has delivered.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::script::Script;
use crate::value::Handle;

/// An event set. The script numbers its events; those up to `seen` were delivered or are older than the set's first watch.
#[derive(Debug, Default)]
struct Set {
    gpus: Vec<Handle>,
    seen: u64,
}

#[derive(Debug)]
struct Sets {
    next: usize,
    open: BTreeMap<usize, Set>,
}

static SETS: Mutex<Sets> = Mutex::new(Sets { next: 1, open: BTreeMap::new() });

fn lock() -> MutexGuard<'static, Sets> {
    SETS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An XID of the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Xid {
    number: u64,
    pub(crate) gpu: u32,
    pub(crate) xid: u64,
}

/// Opens a set and returns its number.
pub(crate) fn open() -> usize {
    let mut sets = lock();
    let number = sets.next;
    sets.next += 1;
    sets.open.insert(number, Set::default());
    number
}

/// Closes a set; `false` if it does not exist.
pub(crate) fn close(number: usize) -> bool {
    lock().open.remove(&number).is_some()
}

/// Adds a GPU to a set. The set delivers events that are newer than its first watch. Returns `false` if the set does
/// not exist.
pub(crate) fn watch(number: usize, gpu: u32, script: &Script) -> bool {
    let newest = of(script).map(|event| event.number).max().unwrap_or(0);
    let mut sets = lock();
    let Some(set) = sets.open.get_mut(&number) else { return false };
    if set.gpus.is_empty() {
        set.seen = newest;
    }
    set.gpus.push(Handle::of(script, gpu, 0));
    true
}

/// Returns the GPUs that a set watches, with the generation in which each was added; `None` if the set does not exist.
pub(crate) fn watched(number: usize) -> Option<Vec<Handle>> {
    lock().open.get(&number).map(|set| set.gpus.clone())
}

/// Removes and returns the next event of a set; `None` if there is none or the set does not exist.
pub(crate) fn take(number: usize, script: &Script) -> Option<Xid> {
    let mut sets = lock();
    let set = sets.open.get_mut(&number)?;
    let new = of(script).filter(|event| event.number > set.seen && set.gpus.iter().any(|of| of.gpu == event.gpu));
    let next = new.min_by_key(|event| event.number)?;
    set.seen = next.number;
    Some(next)
}

/// Returns the events of the script: `3:0:79`, or one for each number of a range: `3-3000:0:31`.
fn of(script: &Script) -> impl Iterator<Item = Xid> {
    let text = script.text("xid").unwrap_or_default();
    text.split_whitespace()
        .filter_map(range)
        .flat_map(|(numbers, gpu, xid)| numbers.map(move |number| Xid { number, gpu, xid }))
}

fn range(event: &str) -> Option<(std::ops::RangeInclusive<u64>, u32, u64)> {
    let mut parts = event.split(':');
    let numbers = parts.next()?;
    let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
    let (gpu, xid) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some((first.parse().ok()?..=last.parse().ok()?, gpu, xid))
}
