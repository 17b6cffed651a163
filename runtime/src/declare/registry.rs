//! The registry: every callsite, key and metric of the program, without a constructor before `main`.
//!
//! The macros put each static into a link section. The sections are emitted directly and not through `linkme`, to keep
//! `cargo check` of annotated code fast. [`sections`] describes how copies of this crate share them.
//! On targets without these sections (wasm, miri) callsites and metrics register on first use, and keys are found through them.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use crate::declare::callsite::{Callsite, SPANS_OWNER};
use crate::declare::cells::Metric;
use crate::declare::key::KeyMeta;
use crate::declare::sections::{self, Head, KEYS, Owner, Source, bounds, size_by_owner};

/// The identity of this copy of the crate.
static OWNER: Owner = Owner { sizes: [0, size_of::<KeyMeta>(), size_of::<Metric>()], unique: &raw const UNIQUE };

static UNIQUE: AtomicU8 = AtomicU8::new(0);

/// Creates a callsite of generated code, at the place of the call. `text` consists of the name, which has `name_bytes`
/// bytes, and the name and the version of the crate, each on its own line.
#[track_caller]
pub const fn callsite(text: &'static str, name_bytes: u16) -> Callsite {
    Callsite::new(text, name_bytes)
}

impl Source {
    /// Creates the source of the keys and metrics that generated code declares, at the place of the call.
    #[track_caller]
    pub const fn here(crate_name: &'static str, crate_version: &'static str) -> Self {
        Source::new(Some(&OWNER), crate_name, crate_version)
    }
}

/// Returns all callsites that are known so far.
pub(crate) fn callsites() -> impl Iterator<Item = &'static Callsite> {
    let (start, stop) = bounds!(spans: Callsite);
    // SAFETY: these are the ends of the section, whose name only our macros use.
    unsafe { own_callsites(start, stop) }.chain(CALLSITES.iter())
}

/// Returns all keys that were linked in or that a known callsite or metric uses.
pub(crate) fn keys() -> Vec<&'static KeyMeta> {
    let (start, stop) = bounds!(keys: KeyMeta);
    // SAFETY: as in `callsites`.
    let mut keys: Vec<&KeyMeta> = unsafe { own_statics(start, stop, KEYS) }.collect();
    let of_metrics = metrics().flat_map(|metric| metric.meta().labels);
    for key in callsites().flat_map(|callsite| callsite.declared_keys()).chain(of_metrics) {
        // The key of a label from the result is derived from a key that is in the list.
        if !keys.iter().any(|known| ptr::eq(*known, *key) || (known.location == key.location && known.name == key.name))
        {
            keys.push(key);
        }
    }
    keys
}

/// Returns all metrics that are known so far.
pub(crate) fn metrics() -> impl Iterator<Item = &'static Metric> {
    let (start, stop) = bounds!(metrics: Metric);
    // SAFETY: as in `callsites`.
    unsafe { own_statics::<Metric>(start, stop, sections::METRICS) }.chain(METRICS.iter())
}

static CALLSITES: List<Callsite> = List(AtomicPtr::new(ptr::null_mut()));
static METRICS: List<Metric> = List(AtomicPtr::new(ptr::null_mut()));

/// Adds a callsite that is in no section. The caller makes sure that each is added once.
pub(crate) fn register(callsite: &'static Callsite) {
    CALLSITES.add(callsite);
}

/// Adds a metric that is in no section. The caller makes sure that each is added once.
pub(crate) fn register_metric(metric: &'static Metric) {
    METRICS.add(metric);
}

/// A list of statics that registered at run time. Entries are never removed.
struct List<T: 'static>(AtomicPtr<Node<T>>);

struct Node<T: 'static> {
    item: &'static T,
    next: *const Node<T>,
}

impl<T> List<T> {
    fn add(&self, item: &'static T) {
        let node = Box::leak(Box::new(Node { item, next: self.0.load(Relaxed) }));
        while let Err(now) = self.0.compare_exchange_weak(node.next.cast_mut(), node, Release, Relaxed) {
            node.next = now;
        }
    }

    fn iter(&self) -> impl Iterator<Item = &'static T> {
        // SAFETY: only `add` stores here, and only nodes that are never freed; the Acquire pairs with its Release.
        let first = unsafe { self.0.load(Acquire).as_ref::<'static>() };
        // SAFETY: a node's successor was in the list before the node, and so is published with the node.
        std::iter::successors(first, |node| unsafe { node.next.as_ref() }).map(|node| node.item)
    }
}

/// Walks through the section of spans and yields the callsites of this copy of the crate.
///
/// # Safety
/// Between `start` and `stop` there are only callsites of any copies of this crate, and zeros.
unsafe fn own_callsites(start: *const u8, stop: *const u8) -> impl Iterator<Item = &'static Callsite> {
    let mut at = start;
    std::iter::from_fn(move || {
        while at < stop {
            // SAFETY: a callsite begins with this number, and zeros fill the gap before a callsite with a larger alignment.
            // Both have the alignment of the number.
            let (this, owner) = (at, unsafe { *at.cast::<u64>() });
            at = at.wrapping_add(size_by_owner(owner));
            if owner == SPANS_OWNER {
                // SAFETY: this copy of the crate has declared it.
                return Some(unsafe { &*this.cast::<Callsite>() });
            }
        }
        None
    })
}

/// Walks through a section and yields the statics of this copy of the crate.
///
/// # Safety
/// Between `start` and `stop` there are statics of the section with this index, of any copies of this crate, and zeros.
/// The statics of this copy are of type `T`, or of a `repr(transparent)` wrapper of `T`.
unsafe fn own_statics<T: 'static>(
    start: *const u8,
    stop: *const u8,
    section: usize,
) -> impl Iterator<Item = &'static T> {
    let mut at = start;
    std::iter::from_fn(move || {
        while at < stop {
            // SAFETY: a static begins with a reference to a source, which begins with a head. Zeros fill the gap before a
            // static with a larger alignment. Both have the alignment of a pointer.
            let Some(head) = (unsafe { *at.cast::<Option<&'static Head>>() }) else {
                at = at.wrapping_add(size_of::<usize>());
                continue;
            };
            let (this, owner) = (at, head.owner?);
            at = at.wrapping_add(owner.sizes[section]);
            if ptr::eq(owner.unique, OWNER.unique) {
                // SAFETY: this copy of the crate has declared it, as a `T`.
                return Some(unsafe { &*this.cast::<T>() });
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A callsite of another copy of this crate.
    #[repr(C)]
    struct Other {
        owner: u64,
        fields: [u64; 11],
    }

    #[repr(C)]
    struct Section {
        first: Callsite,
        other: Other,
        zeros: [usize; 3],
        second: Callsite,
    }

    static SECTION: Section = Section {
        first: callsite("Store/Get\nstore\n1.2.3", 9),
        other: Other { owner: !SPANS_OWNER & !63 | 12, fields: [SPANS_OWNER; 11] },
        zeros: [0; 3],
        second: callsite("Store/Put\nstore\n1.2.3", 9),
    };

    #[test]
    fn callsites_of_other_copies_are_stepped_over() {
        let start = (&raw const SECTION).cast::<u8>();
        // SAFETY: it has the shape of a section.
        let own = unsafe { own_callsites(start, start.add(size_of::<Section>())) };
        assert_eq!(own.map(Callsite::name).collect::<Vec<_>>(), ["Store/Get", "Store/Put"]);
        assert_eq!(size_by_owner(SECTION.other.owner), size_of::<Other>());
        assert_eq!(SECTION.other.fields[0], SPANS_OWNER);
    }

    /// A metric of another copy of this crate.
    #[repr(C)]
    struct OtherMetric {
        source: &'static Source,
        fields: [usize; 11],
    }

    #[repr(C)]
    struct Metrics {
        other: OtherMetric,
        zeros: [usize; 3],
        own: &'static Source,
    }

    static OTHER_OWNER: Owner = Owner { sizes: [size_of::<OtherMetric>(); 3], unique: &raw const OTHER };
    static OTHER: AtomicU8 = AtomicU8::new(0);
    static OTHER_SOURCE: Source = Source::new(Some(&OTHER_OWNER), "other", "0.1.1");
    static OWN_SOURCE: Source = Source::here("store", "1.2.3");
    static METRICS_SECTION: Metrics = Metrics {
        other: OtherMetric { source: &OTHER_SOURCE, fields: [usize::MAX; 11] },
        zeros: [0; 3],
        own: &OWN_SOURCE,
    };

    #[test]
    fn statics_of_other_copies_are_stepped_over() {
        let start = (&raw const METRICS_SECTION).cast::<u8>();
        // SAFETY: it has the shape of a section, in which each own static is a reference to its source.
        let mut own =
            unsafe { own_statics::<&'static Source>(start, start.add(size_of::<Metrics>()), sections::METRICS) };
        assert_eq!(own.next().map(|source| source.crate_name), Some("store"));
        assert_eq!(METRICS_SECTION.other.source.crate_name, "other");
    }

    #[test]
    fn a_callsite_is_small() {
        // Eight bytes are the number of the owner, which replaces a reference and its relocation.
        assert!(size_of::<Callsite>() <= 72, "{}", size_of::<Callsite>());
    }

    #[test]
    fn statics_that_register_at_run_time_are_listed() {
        static LIST: List<u8> = List(AtomicPtr::new(ptr::null_mut()));
        static NUMBERS: [u8; 40] = [1; 40];
        std::thread::scope(|scope| {
            NUMBERS.chunks(10).for_each(|part| drop(scope.spawn(|| part.iter().for_each(|number| LIST.add(number)))));
        });
        assert_eq!(LIST.iter().count(), NUMBERS.len());
    }
}
