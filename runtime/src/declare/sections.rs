//! The link sections that collect statics, and how each copy of this crate finds its own statics in them.
//!
//! Cargo may link several copies of this crate into one program: two versions, or one version from two sources. All copies
//! use the same sections, but their types may differ. So every static in a section begins with its owner and its size. A
//! callsite begins with one number that contains both ([`owner_of`]), because a program has many callsites. A key or a metric
//! begins with a reference to a [`Source`]. A source begins with a [`Head`], which refers to the [`Owner`] of the copy, and the
//! owner contains the sizes. A copy reads its own statics and skips all others by their size.
//!
//! The layouts of `Head` and `Owner`, and of the number of a callsite, are the same in all copies. A change of these layouts
//! requires new names of the sections, which contain the number of this format.

use std::panic::Location;
use std::sync::atomic::AtomicU8;

/// The origin of keys and metrics: the copy of this crate, and the crate and file that declare them.
#[derive(Debug)]
#[repr(C)]
pub struct Source {
    pub(crate) head: Head,
    pub(crate) crate_name: &'static str,
    pub(crate) crate_version: &'static str,
    pub(crate) file: &'static str,
}

/// The fields that have the same layout in all copies of this crate.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Head {
    /// `None` for statics that are in no section.
    pub(crate) owner: Option<&'static Owner>,
}

/// One copy of this crate. Two copies differ by `unique`, so linkers never merge their owners.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Owner {
    /// The size of the statics in each section.
    pub(crate) sizes: [usize; SECTIONS],
    /// The address of a writable static of the copy: linkers may merge equal constants, but never writable statics. The field is
    /// a pointer and not a reference, because constants refer to owners, and before Rust 1.90 a constant may not refer to mutable
    /// data.
    pub(crate) unique: *const AtomicU8,
}

// SAFETY: nothing reads or writes through the pointer.
unsafe impl Send for Owner {}
// SAFETY: nothing reads or writes through the pointer.
unsafe impl Sync for Owner {}

/// Indices of [`Owner::sizes`]; the first is unused.
pub(crate) const KEYS: usize = 1;
pub(crate) const METRICS: usize = 2;
const SECTIONS: usize = 3;

/// The number with which each callsite of this copy of the crate begins: 58 bits of a hash of the folder and version that the copy
/// was built from, then the size of a callsite in words of eight bytes.
pub(crate) const fn owner_of(bytes: usize) -> u64 {
    let text = concat!(env!("CARGO_MANIFEST_DIR"), "\n", file!(), "\n", env!("CARGO_PKG_VERSION")).as_bytes();
    let (mut hash, mut at) = (0xcbf2_9ce4_8422_2325_u64, 0);
    while at < text.len() {
        hash = (hash ^ text[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    assert!(bytes.is_multiple_of(8) && bytes / 8 < 64);
    hash << 6 | (bytes / 8) as u64
}

/// Returns the size in bytes of the callsite that begins with this number. A zero is part of a gap, and has the size of a number.
pub(crate) fn size_by_owner(owner: u64) -> usize {
    if owner == 0 { size_of::<u64>() } else { 8 * (owner as usize & 63) }
}

impl Source {
    /// Creates a source for the crate and file at the place of the call.
    #[track_caller]
    pub(crate) const fn new(
        owner: Option<&'static Owner>,
        crate_name: &'static str,
        crate_version: &'static str,
    ) -> Self {
        Source { head: Head { owner }, crate_name, crate_version, file: Location::caller().file() }
    }
}

/// Puts a static into the section of spans, keys or metrics of an ELF file.
///
/// This is a macro of this crate and not part of each expansion: the compiler evaluates the target once, which makes
/// `cargo check` of annotated code faster, and the same copy of this crate names and reads a section.
#[doc(hidden)]
#[macro_export]
macro_rules! __in_elf_section {
    (spans $($item:tt)*) => { #[used] #[unsafe(link_section = "tc2_spans")] $($item)* };
    (keys $($item:tt)*) => { #[used] #[unsafe(link_section = "tc1_keys")] $($item)* };
    (metrics $($item:tt)*) => { #[used] #[unsafe(link_section = "tc1_metrics")] $($item)* };
}

/// Puts a static into the section of spans, keys or metrics of a Mach-O file (see `__in_elf_section`).
#[doc(hidden)]
#[macro_export]
macro_rules! __in_mach_section {
    (spans $($item:tt)*) => { #[used] #[unsafe(link_section = "__DATA,tc2_spans")] $($item)* };
    (keys $($item:tt)*) => { #[used] #[unsafe(link_section = "__DATA,tc1_keys")] $($item)* };
    (metrics $($item:tt)*) => { #[used] #[unsafe(link_section = "__DATA,tc1_metrics")] $($item)* };
}

/// Puts a static into the section of spans, keys or metrics of a COFF file (see `__in_elf_section`).
#[doc(hidden)]
#[macro_export]
macro_rules! __in_coff_section {
    (spans $($item:tt)*) => { #[used] #[unsafe(link_section = ".tc2s$b")] $($item)* };
    (keys $($item:tt)*) => { #[used] #[unsafe(link_section = ".tc1k$b")] $($item)* };
    (metrics $($item:tt)*) => { #[used] #[unsafe(link_section = ".tc1m$b")] $($item)* };
}

/// Declares a static in no particular section, for targets without these sections (see `__in_elf_section`).
#[doc(hidden)]
#[macro_export]
macro_rules! __in_no_section {
    ($section:ident $($item:tt)*) => { $($item)* };
}

// One of these modules is compiled, depending on the format of object files: `in_section` and the entry point `tc_span` put a
// static into a section, `bounds` returns the ends of a section, and `LINKED` is true if there are sections. Without sections,
// statics register on first use.
pub(crate) use self::format::{LINKED, bounds};
pub use self::format::{in_section, tc_span};

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
    )
))]
mod format {
    #[cfg(not(target_vendor = "apple"))]
    pub use crate::__in_elf_section as in_section;
    #[cfg(target_vendor = "apple")]
    pub use crate::__in_mach_section as in_section;
    #[cfg(not(target_vendor = "apple"))]
    pub use tracecast_macros::__tc_span_elf as tc_span;
    #[cfg(target_vendor = "apple")]
    pub use tracecast_macros::tc_span;
    pub(crate) const LINKED: bool = true;

    macro_rules! bounds {
        (spans: $type:ty) => {
            bounds!(
                $type,
                "tc2_spans",
                "__start_tc2_spans",
                "__stop_tc2_spans",
                "__DATA,tc2_spans",
                "\x01section$start$__DATA$tc2_spans",
                "\x01section$end$__DATA$tc2_spans"
            )
        };
        (keys: $type:ty) => {
            bounds!(
                $type,
                "tc1_keys",
                "__start_tc1_keys",
                "__stop_tc1_keys",
                "__DATA,tc1_keys",
                "\x01section$start$__DATA$tc1_keys",
                "\x01section$end$__DATA$tc1_keys"
            )
        };
        (metrics: $type:ty) => {
            bounds!(
                $type,
                "tc1_metrics",
                "__start_tc1_metrics",
                "__stop_tc1_metrics",
                "__DATA,tc1_metrics",
                "\x01section$start$__DATA$tc1_metrics",
                "\x01section$end$__DATA$tc1_metrics"
            )
        };
        ($type:ty, $elf:literal, $start:literal, $stop:literal, $mach:literal, $mach_start:literal, $mach_stop:literal) => {{
            // Symbols that the linker defines.
            unsafe extern "C" {
                #[cfg_attr(target_vendor = "apple", link_name = $mach_start)]
                #[cfg_attr(not(target_vendor = "apple"), link_name = $start)]
                static START: [u8; 0];
                #[cfg_attr(target_vendor = "apple", link_name = $mach_stop)]
                #[cfg_attr(not(target_vendor = "apple"), link_name = $stop)]
                static STOP: [u8; 0];
            }
            // An empty element, so that the section and its symbols exist in a program that declares nothing.
            #[used]
            #[cfg_attr(target_vendor = "apple", unsafe(link_section = $mach))]
            #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = $elf))]
            static EMPTY: [$type; 0] = [];
            ((&raw const START).cast(), (&raw const STOP).cast())
        }};
    }

    pub(crate) use bounds;
}

#[cfg(all(not(miri), windows))]
mod format {
    pub use crate::__in_coff_section as in_section;
    pub use tracecast_macros::tc_span;
    pub(crate) const LINKED: bool = true;

    macro_rules! bounds {
        (spans: $type:ty) => {
            bounds!($type, ".tc2s$a", ".tc2s$c")
        };
        (keys: $type:ty) => {
            bounds!($type, ".tc1k$a", ".tc1k$c")
        };
        (metrics: $type:ty) => {
            bounds!($type, ".tc1m$a", ".tc1m$c")
        };
        ($type:ty, $first:literal, $last:literal) => {{
            // The linker sorts these subsections first and last.
            #[unsafe(link_section = $first)]
            static START: [$type; 0] = [];
            #[unsafe(link_section = $last)]
            static STOP: [$type; 0] = [];
            ((&raw const START).cast(), (&raw const STOP).cast())
        }};
    }

    pub(crate) use bounds;
}

#[cfg(any(
    miri,
    not(any(
        windows,
        target_os = "linux",
        target_os = "android",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "illumos",
        target_vendor = "apple",
    ))
))]
mod format {
    pub use crate::__in_no_section as in_section;
    pub use tracecast_macros::tc_span;
    pub(crate) const LINKED: bool = false;

    macro_rules! bounds {
        ($section:ident: $type:ty) => {
            (std::ptr::null(), std::ptr::null())
        };
    }

    pub(crate) use bounds;
}
