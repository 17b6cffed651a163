//! Where the linker collects statics, and how each copy of this crate finds its own among them.
//!
//! Cargo may link several copies of this crate into one program: two versions, or one version from two sources. All of
//! them use the same sections, and the types in there may differ between them. So every static in a section begins with
//! a reference to a [`Head`] (callsites), or to a [`Source`] that begins with one (keys and metrics). A head refers to the
//! [`Owner`]: a static of which each copy has one of its own. A copy reads the statics that have its owner, and steps over
//! the others by the sizes that their owner states.
//!
//! These two fields and `Owner` are therefore the same in all copies. A change of them needs new names of the sections,
//! here and in `registry`: the names carry the number of this format.

use std::panic::Location;
use std::sync::atomic::AtomicU8;

/// Whether statics are collected by the linker. Elsewhere they register on first use.
///
/// The targets are those for which `__in_section` emits sections.
pub(crate) const LINKED: bool = cfg!(all(
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
));

/// Where keys and metrics come from: the copy of this crate, and the crate and file that declare them.
#[derive(Debug)]
#[repr(C)]
pub struct Source {
    pub(crate) head: Head,
    pub(crate) crate_name: &'static str,
    pub(crate) crate_version: &'static str,
    pub(crate) file: &'static str,
}

/// What is the same in all copies of this crate.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Head {
    /// `None` for statics that are in no section.
    pub(crate) owner: Option<&'static Owner>,
}

/// One copy of this crate. Two of them differ by their addresses.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Owner {
    /// The size of the statics in each section.
    pub(crate) sizes: [usize; SECTIONS],
    /// Makes it writable memory: linkers may merge equal constants, but never this.
    _unique: AtomicU8,
}

/// Indices of [`Owner::sizes`].
pub(crate) const SPANS: usize = 0;
pub(crate) const KEYS: usize = 1;
pub(crate) const METRICS: usize = 2;
const SECTIONS: usize = 3;

impl Owner {
    pub(crate) const fn new(sizes: [usize; SECTIONS]) -> Self {
        Owner { sizes, _unique: AtomicU8::new(0) }
    }
}

impl Source {
    /// The crate and file at the place of the call.
    #[track_caller]
    pub(crate) const fn new(
        owner: Option<&'static Owner>,
        crate_name: &'static str,
        crate_version: &'static str,
    ) -> Self {
        Source { head: Head { owner }, crate_name, crate_version, file: Location::caller().file() }
    }
}

/// Puts a static into the section of spans, keys or metrics.
///
/// A macro of this crate and not part of each expansion: so the compiler looks at the target once, which makes `cargo
/// check` of annotated code faster, and the copy of this crate that reads a section has also named it.
#[doc(hidden)]
#[macro_export]
#[cfg(all(
    not(miri),
    any(
        target_os = "linux",
        target_os = "android",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "illumos"
    )
))]
macro_rules! __in_section {
    (spans $($item:tt)*) => { #[used] #[unsafe(link_section = "tc1_spans")] $($item)* };
    (keys $($item:tt)*) => { #[used] #[unsafe(link_section = "tc1_keys")] $($item)* };
    (metrics $($item:tt)*) => { #[used] #[unsafe(link_section = "tc1_metrics")] $($item)* };
}

/// Puts a static into the section of spans, keys or metrics.
#[doc(hidden)]
#[macro_export]
#[cfg(all(not(miri), target_vendor = "apple"))]
macro_rules! __in_section {
    (spans $($item:tt)*) => { #[used] #[unsafe(link_section = "__DATA,tc1_spans")] $($item)* };
    (keys $($item:tt)*) => { #[used] #[unsafe(link_section = "__DATA,tc1_keys")] $($item)* };
    (metrics $($item:tt)*) => { #[used] #[unsafe(link_section = "__DATA,tc1_metrics")] $($item)* };
}

/// Puts a static into the section of spans, keys or metrics.
#[doc(hidden)]
#[macro_export]
#[cfg(all(not(miri), windows))]
macro_rules! __in_section {
    (spans $($item:tt)*) => { #[used] #[unsafe(link_section = ".tc1s$b")] $($item)* };
    (keys $($item:tt)*) => { #[used] #[unsafe(link_section = ".tc1k$b")] $($item)* };
    (metrics $($item:tt)*) => { #[used] #[unsafe(link_section = ".tc1m$b")] $($item)* };
}

/// Leaves a static where it is: there are no sections.
#[doc(hidden)]
#[macro_export]
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
macro_rules! __in_section {
    ($section:ident $($item:tt)*) => { $($item)* };
}
