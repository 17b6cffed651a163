//! What the linker gathered: every callsite, key and metric of the program, without a constructor before `main`.
//!
//! The macros put each static into a section named after what it is and after our version, so that two versions of
//! this crate in one program never read each other's. The sections are emitted directly and not through `linkme`, to
//! keep `cargo check` of annotated code fast; the way of reading them is the same.
//! Where there are no such sections (wasm, miri) callsites register on first use and keys are found through them.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use crate::callsite::Callsite;
use crate::cells::Metric;
use crate::key::KeyMeta;

/// Every callsite that is known by now.
pub(crate) fn callsites() -> impl Iterator<Item = &'static Callsite> {
    linked::callsites().iter().chain(CALLSITES.iter())
}

/// Every key that was linked in, or that a known callsite or metric uses.
pub(crate) fn keys() -> Vec<&'static KeyMeta> {
    let mut keys: Vec<_> = linked::keys().iter().collect();
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
    linked::metrics().iter().chain(METRICS.iter())
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

/// Statics that are linked to each other at run time.
struct List<T: Linked>(AtomicPtr<T>);

trait Linked: Sized + 'static {
    fn next(&self) -> &AtomicPtr<Self>;
}

impl Linked for Callsite {
    fn next(&self) -> &AtomicPtr<Self> {
        &self.next
    }
}

impl Linked for Metric {
    fn next(&self) -> &AtomicPtr<Self> {
        &self.next
    }
}

impl<T: Linked> List<T> {
    fn add(&self, item: &'static T) {
        let new = ptr::from_ref(item).cast_mut();
        let mut head = self.0.load(Relaxed);
        loop {
            item.next().store(head, Relaxed);
            match self.0.compare_exchange_weak(head, new, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = &'static T> {
        // SAFETY: only `add` stores here, and only addresses of `&'static T`; the Acquire pairs with its Release.
        let follow = |link: &AtomicPtr<T>| -> Option<&'static T> { unsafe { link.load(Acquire).as_ref() } };
        std::iter::successors(follow(&self.0), move |item| follow(item.next()))
    }
}

/// Reads one section as a slice of `$type`: between the two symbols that the linker defines, or that sort first and last.
#[allow(unused_macros, reason = "not used where there are no sections")]
macro_rules! section {
    ($name:ident: $type:ty, $elf:literal, $start:literal, $stop:literal, $apple:literal, $apple_start:literal, $apple_stop:literal, $coff_a:literal, $coff_c:literal) => {
        pub(super) fn $name() -> &'static [$type] {
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

            let start = (&raw const START).cast::<$type>();
            let stop = (&raw const STOP).cast::<$type>();
            let bytes = stop.addr() - start.addr();
            // SAFETY: the section holds statics of `$type`, or of types that are transparently one, and nothing else: its name is used by our macros alone and
            // carries our version. Explicit sections are laid out without padding beyond the type's own alignment.
            unsafe { std::slice::from_raw_parts(start, bytes / size_of::<$type>()) }
        }
    };
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
    use super::{Callsite, KeyMeta, Metric};

    section!(callsites: Callsite, "tc0_1_spans", "__start_tc0_1_spans", "__stop_tc0_1_spans",
        "__DATA,tc0_1_spans", "\x01section$start$__DATA$tc0_1_spans", "\x01section$end$__DATA$tc0_1_spans",
        ".tc01s$a", ".tc01s$c");
    section!(keys: KeyMeta, "tc0_1_keys", "__start_tc0_1_keys", "__stop_tc0_1_keys",
        "__DATA,tc0_1_keys", "\x01section$start$__DATA$tc0_1_keys", "\x01section$end$__DATA$tc0_1_keys",
        ".tc01k$a", ".tc01k$c");
    section!(metrics: Metric, "tc0_1_metrics", "__start_tc0_1_metrics", "__stop_tc0_1_metrics",
        "__DATA,tc0_1_metrics", "\x01section$start$__DATA$tc0_1_metrics", "\x01section$end$__DATA$tc0_1_metrics",
        ".tc01m$a", ".tc01m$c");

    #[cfg(test)]
    mod tests {
        #[test]
        fn the_sections_carry_our_version() {
            let tag = concat!("tc", env!("CARGO_PKG_VERSION_MAJOR"), "_", env!("CARGO_PKG_VERSION_MINOR"), "_");
            assert!("tc0_1_spans".starts_with(tag), "rename the sections here and in the macros: {tag}");
        }
    }
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
    use super::{Callsite, KeyMeta, Metric};

    pub(super) fn callsites() -> &'static [Callsite] {
        &[]
    }

    pub(super) fn keys() -> &'static [KeyMeta] {
        &[]
    }

    pub(super) fn metrics() -> &'static [Metric] {
        &[]
    }
}
