//! File locks like those of `File::try_lock`, which needs Rust 1.89, newer than our minimum version.

use std::fs::File;
use std::io;

/// Locks a file. False if it is locked already.
#[cfg(unix)]
pub(super) fn try_lock(file: &File) -> io::Result<bool> {
    use std::os::fd::AsRawFd;

    // SAFETY: the descriptor is open as long as `file` is borrowed, and `flock` reads no memory.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
        0 => Ok(true),
        _ => match io::Error::last_os_error() {
            cause if cause.kind() == io::ErrorKind::WouldBlock => Ok(false),
            cause => Err(cause),
        },
    }
}

/// Unlocks a file.
#[cfg(unix)]
pub(super) fn unlock(file: &File) {
    use std::os::fd::AsRawFd;

    // SAFETY: the descriptor is open as long as `file` is borrowed, and `flock` reads no memory.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_UN) };
}

/// Locks a file. False if it is locked already.
#[cfg(windows)]
pub(super) fn try_lock(file: &File) -> io::Result<bool> {
    use std::os::windows::io::AsRawHandle;
    use windows_sys::Win32::Foundation::{ERROR_IO_PENDING, ERROR_LOCK_VIOLATION};
    use windows_sys::Win32::Storage::FileSystem::{LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx};
    use windows_sys::Win32::System::IO::OVERLAPPED;

    let mut from_the_start = OVERLAPPED::default();
    let flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: the handle is open as long as `file` is borrowed. It was opened for synchronous use, so nothing writes to
    // `from_the_start` after the call.
    match unsafe { LockFileEx(file.as_raw_handle(), flags, 0, u32::MAX, u32::MAX, &mut from_the_start) } {
        0 => match io::Error::last_os_error() {
            cause
                if [ERROR_IO_PENDING, ERROR_LOCK_VIOLATION]
                    .map(|code| Some(code as i32))
                    .contains(&cause.raw_os_error()) =>
            {
                Ok(false)
            }
            cause => Err(cause),
        },
        _ => Ok(true),
    }
}

/// Unlocks a file.
#[cfg(windows)]
pub(super) fn unlock(file: &File) {
    use std::os::windows::io::AsRawHandle;
    use windows_sys::Win32::Storage::FileSystem::UnlockFile;

    // SAFETY: the handle is open as long as `file` is borrowed.
    unsafe { UnlockFile(file.as_raw_handle(), 0, 0, u32::MAX, u32::MAX) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_two_openings_has_the_lock() {
        let path = std::env::temp_dir().join(format!("tracecast-file-lock-{}", std::process::id()));
        let (first, second) = (File::create(&path).unwrap(), File::create(&path).unwrap());
        assert!(try_lock(&first).unwrap());
        assert!(!try_lock(&second).unwrap());
        unlock(&first);
        assert!(try_lock(&second).unwrap());
        std::fs::remove_file(path).unwrap();
    }
}
