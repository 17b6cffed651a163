//! The process's limit for the size of files.

/// Returns the limit in bytes (`ulimit -f`); `u64::MAX` if there is none. Writing more would end the process by a
/// signal.
#[cfg(unix)]
pub(super) fn largest_file() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a structure of the type that the call fills in.
    let failed = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } != 0;
    if failed || limit.rlim_cur == libc::RLIM_INFINITY { u64::MAX } else { limit.rlim_cur }
}

#[cfg(not(unix))]
pub(super) fn largest_file() -> u64 {
    u64::MAX
}
