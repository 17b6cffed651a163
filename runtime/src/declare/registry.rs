//! The registry: every callsite, key and metric of the program, without a constructor before `main`.
//!
//! The macros put each static into a link section. The sections are emitted directly and not through `linkme`, to keep
//! `cargo check` of annotated code fast. [`sections`](crate::declare::sections) describes how copies of this crate share them.
//! Where there are no such sections (wasm, miri) callsites register on first use and keys are found through them.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use crate::declare::callsite::Callsite;
use crate::declare::cells::Metric;
use crate::declare::key::KeyMeta;
use crate::declare::sections::{Head, Owner, Source};

/// This copy of the crate.
static OWNER: Owner = Owner::new([size_of::<Callsite>(), size_of::<KeyMeta>(), size_of::<Metric>()]);

static HEAD: Head = Head { owner: Some(&OWNER) };

/// A callsite that generated code declares, at the place of the call. `text` is its name of this many bytes, and behind it
/// the name and the version of the crate, each on a line of its own.
#[track_caller]
pub const fn callsite(text: &'static str, name_bytes: u16) -> Callsite {
    Callsite::new(&HEAD, text, name_bytes)
}

impl Source {
    /// The source of the keys and metrics that generated code declares, at the place of the call.
    #[track_caller]
    pub const fn here(crate_name: &'static str, crate_version: &'static str) -> Self {
        Source::new(Some(&OWNER), crate_name, crate_version)
    }
}

/// Every callsite that is known by now.
pub(crate) fn callsites() -> impl Iterator<Item = &'static Callsite> {
    linked::callsites().chain(CALLSITES.iter())
}

/// Every key that was linked in, or that a known callsite or metric uses.
pub(crate) fn keys() -> Vec<&'static KeyMeta> {
    let mut keys: Vec<_> = linked::keys().collect();
    let of_metrics = metrics().flat_map(|metric| metric.meta().labels);
    for key in callsites().flat_map(|callsite| callsite.declared_keys()).chain(of_metrics) {
        // A key of a result's label stands for another one, which is in the list.
        if !keys.iter().any(|known| ptr::eq(*known, *key) || (known.location == key.location && known.name == key.name))
        {
            keys.push(key);
        }
    }
    keys
}

/// Every metric that is known by now.
pub(crate) fn metrics() -> impl Iterator<Item = &'static Metric> {
    linked::metrics().chain(METRICS.iter())
}

static CALLSITES: List<Callsite> = List(AtomicPtr::new(ptr::null_mut()));
static METRICS: List<Metric> = List(AtomicPtr::new(ptr::null_mut()));

/// Adds a callsite that no section holds. The caller makes sure that each is added once.
pub(crate) fn register(callsite: &'static Callsite) {
    CALLSITES.add(callsite);
}

/// Adds a metric that no section holds. The caller makes sure that each is added once.
pub(crate) fn register_metric(metric: &'static Metric) {
    METRICS.add(metric);
}

/// Statics that registered at run time. They are never removed.
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
        // SAFETY: a node's successor was in the list before it, and so is published with it.
        std::iter::successors(first, |node| unsafe { node.next.as_ref() }).map(|node| node.item)
    }
}

/// Walks through a section and yields the statics of this copy of the crate.
///
/// # Safety
/// Between `start` and `stop` there are statics of the section with this index, of any copies of this crate, and zeros.
/// Those of this copy are of type `T`, or of types that are transparently one.
unsafe fn own_statics<T: 'static>(
    start: *const u8,
    stop: *const u8,
    section: usize,
) -> impl Iterator<Item = &'static T> {
    let mut at = start;
    std::iter::from_fn(move || {
        while at < stop {
            // SAFETY: a static begins with a reference to a source, which begins with a head. A zero lies where a static of
            // a larger alignment follows. Both are aligned as a pointer is.
            let Some(head) = (unsafe { *at.cast::<Option<&'static Head>>() }) else {
                at = at.wrapping_add(size_of::<usize>());
                continue;
            };
            let (this, owner) = (at, head.owner?);
            at = at.wrapping_add(owner.sizes[section]);
            if ptr::eq(owner, &OWNER) {
                // SAFETY: this copy of the crate has declared it, as a `T`.
                return Some(unsafe { &*this.cast::<T>() });
            }
        }
        None
    })
}

#[cfg(all(
    not(miri),
    any(
        target_os = "linux",
        target_os = "android",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "illumos",
        target_vendor = "apple",
        windows
    )
))]
mod linked {
    use super::{Callsite, KeyMeta, Metric, own_statics};

    /// Reads the statics of type `$type` from a section: between the two symbols that the linker defines, or that sort first
    /// and last.
    macro_rules! section {
        ($name:ident: $type:ty, $index:expr, $elf:literal, $start:literal, $stop:literal, $apple:literal, $apple_start:literal, $apple_stop:literal, $coff_a:literal, $coff_c:literal) => {
            pub(super) fn $name() -> impl Iterator<Item = &'static $type> {
                #[cfg(not(windows))]
                unsafe extern "C" {
                    #[cfg_attr(target_vendor = "apple", link_name = $apple_start)]
                    #[cfg_attr(not(target_vendor = "apple"), link_name = $start)]
                    static START: [u8; 0];
                    #[cfg_attr(target_vendor = "apple", link_name = $apple_stop)]
                    #[cfg_attr(not(target_vendor = "apple"), link_name = $stop)]
                    static STOP: [u8; 0];
                }
                // An empty element, so that the section and its symbols exist in a program that declares nothing.
                #[cfg(not(windows))]
                #[used]
                #[cfg_attr(target_vendor = "apple", unsafe(link_section = $apple))]
                #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = $elf))]
                static EMPTY: [$type; 0] = [];

                #[cfg(windows)]
                #[unsafe(link_section = $coff_a)]
                static START: [$type; 0] = [];
                #[cfg(windows)]
                #[unsafe(link_section = $coff_c)]
                static STOP: [$type; 0] = [];

                // SAFETY: the symbols enclose the section, whose name is used by our macros alone.
                unsafe { own_statics((&raw const START).cast(), (&raw const STOP).cast(), $index) }
            }
        };
    }

    section!(callsites: Callsite, crate::declare::sections::SPANS, "tc1_spans", "__start_tc1_spans", "__stop_tc1_spans",
        "__DATA,tc1_spans", "\x01section$start$__DATA$tc1_spans", "\x01section$end$__DATA$tc1_spans",
        ".tc1s$a", ".tc1s$c");
    section!(keys: KeyMeta, crate::declare::sections::KEYS, "tc1_keys", "__start_tc1_keys", "__stop_tc1_keys",
        "__DATA,tc1_keys", "\x01section$start$__DATA$tc1_keys", "\x01section$end$__DATA$tc1_keys",
        ".tc1k$a", ".tc1k$c");
    section!(metrics: Metric, crate::declare::sections::METRICS, "tc1_metrics", "__start_tc1_metrics", "__stop_tc1_metrics",
        "__DATA,tc1_metrics", "\x01section$start$__DATA$tc1_metrics", "\x01section$end$__DATA$tc1_metrics",
        ".tc1m$a", ".tc1m$c");
}

#[cfg(not(all(
    not(miri),
    any(
        target_os = "linux",
        target_os = "android",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "illumos",
        target_vendor = "apple",
        windows
    )
)))]
mod linked {
    use std::ptr;

    use super::{Callsite, KeyMeta, Metric, own_statics};
    use crate::declare::sections::{KEYS, METRICS, SPANS};

    pub(super) fn callsites() -> impl Iterator<Item = &'static Callsite> {
        // SAFETY: nothing is read of an empty section.
        unsafe { own_statics(ptr::null(), ptr::null(), SPANS) }
    }

    pub(super) fn keys() -> impl Iterator<Item = &'static KeyMeta> {
        // SAFETY: as above.
        unsafe { own_statics(ptr::null(), ptr::null(), KEYS) }
    }

    pub(super) fn metrics() -> impl Iterator<Item = &'static Metric> {
        // SAFETY: as above.
        unsafe { own_statics(ptr::null(), ptr::null(), METRICS) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A static of another copy of this crate.
    #[repr(C)]
    struct Other {
        source: &'static Source,
        fields: [usize; 11],
    }

    #[repr(C)]
    struct Section {
        first: Callsite,
        other: Other,
        zeros: [usize; 3],
        second: Callsite,
    }

    static OTHER_OWNER: Owner = Owner::new([size_of::<Other>(); 3]);
    static OTHER_SOURCE: Source = Source::new(Some(&OTHER_OWNER), "other", "0.1.1");
    static SECTION: Section = Section {
        first: callsite("Store/Get\nstore\n1.2.3", 9),
        other: Other { source: &OTHER_SOURCE, fields: [usize::MAX; 11] },
        zeros: [0; 3],
        second: callsite("Store/Put\nstore\n1.2.3", 9),
    };

    #[test]
    fn statics_of_other_copies_are_stepped_over() {
        let start = (&raw const SECTION).cast::<u8>();
        // SAFETY: it has the shape of a section.
        let own =
            unsafe { own_statics::<Callsite>(start, start.add(size_of::<Section>()), crate::declare::sections::SPANS) };
        assert_eq!(own.map(Callsite::name).collect::<Vec<_>>(), ["Store/Get", "Store/Put"]);
        assert_eq!(SECTION.other.source.crate_name, "other");
    }

    #[test]
    fn a_callsite_is_small() {
        assert!(size_of::<Callsite>() <= 64, "{}", size_of::<Callsite>());
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
