//! Where the linker collects statics.

/// Whether statics are collected by the linker. Elsewhere they register on first use.
///
/// The list of targets is the one under which the macros emit the sections.
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
