//! Blocking and non-blocking writes to standard error.

#[cfg(all(unix, not(miri)))]
pub(super) use self::descriptor::{write, write_now};
#[cfg(not(all(unix, not(miri))))]
pub(super) use self::portable::{write, write_now};

#[cfg(all(unix, not(miri)))]
mod descriptor {
    use std::io::{Error, ErrorKind, Result};
    use std::mem::MaybeUninit;
    #[cfg(target_os = "linux")]
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::thread;
    use std::time::Duration;

    const FD: libc::c_int = libc::STDERR_FILENO;
    /// The interval between two checks of a full pipe: the program may have replaced it by another file.
    const LOOK_AGAIN_MS: libc::c_int = 1_000;
    const MOMENT: Duration = Duration::from_millis(1);

    /// Writes as much as possible without blocking and returns the number of bytes that are done. Does not take the lock of
    /// standard error, because a thread that waits for a full pipe may hold that lock. Bytes that can never be written, for
    /// example because the reader has closed the pipe, count as done.
    pub(in crate::base::notice) fn write_now(bytes: &[u8]) -> usize {
        let mut done = 0;
        while done < bytes.len() {
            match attempt(&bytes[done..]) {
                Ok(0) => return bytes.len(),
                Ok(written) => done += written,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Unsupported) => return done,
                Err(_) => return bytes.len(),
            }
        }
        done
    }

    /// Writes everything, or as much as possible before an error. Blocks until the reader has room and no other thread is in
    /// the middle of a line. Does not hold the lock while waiting: in a child that is forked meanwhile the lock would never be
    /// released.
    pub(in crate::base::notice) fn write(bytes: &[u8]) {
        let mut done = 0;
        while done < bytes.len() {
            while !is_writable(LOOK_AGAIN_MS) {}
            let lock = std::io::stderr().lock();
            let written = attempt(&bytes[done..]);
            drop(lock);
            let written = match written {
                Err(error) if error.kind() == ErrorKind::Unsupported => plain(&bytes[done..]),
                other => other,
            };
            match written {
                Ok(0) => return,
                Ok(written) => done += written,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Other writers have filled the pipe.
                Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(MOMENT),
                Err(_) => return,
            }
        }
    }

    /// Whether the last non-blocking write was unsupported. Then the type of the file is checked before the next write.
    static LOOK_FIRST: AtomicBool = AtomicBool::new(false);

    /// Makes one write without blocking, or fails as unsupported. The program may redirect standard error at any time.
    fn attempt(bytes: &[u8]) -> Result<usize> {
        if LOOK_FIRST.load(Relaxed) {
            return by_type(bytes);
        }
        let written = nowait(bytes);
        match written.as_ref().map_err(Error::kind) {
            Err(ErrorKind::Unsupported) => LOOK_FIRST.store(true, Relaxed),
            // `by_type` makes the decision: a regular file is then written with a plain write.
            Err(ErrorKind::WouldBlock) => {}
            _ => return written,
        }
        by_type(bytes)
    }

    fn by_type(bytes: &[u8]) -> Result<usize> {
        if is_file() {
            // A file has no reader that could block the write.
            return plain(bytes);
        }
        match file_type()? {
            libc::S_IFIFO => nowait(bytes).inspect(|_| LOOK_FIRST.store(false, Relaxed)),
            libc::S_IFSOCK => socket(bytes),
            libc::S_IFCHR if is_terminal() => terminal(bytes),
            _ => plain(bytes),
        }
    }

    fn is_terminal() -> bool {
        // SAFETY: a plain system call.
        unsafe { libc::isatty(FD) == 1 }
    }

    /// Writes to a terminal without blocking. `poll` is not sufficient: it reports a terminal with room for one byte as writable,
    /// and a plain write of a line then blocks. So the terminal is opened again, in non-blocking mode.
    #[cfg(target_os = "linux")]
    fn terminal(bytes: &[u8]) -> Result<usize> {
        /// The device of the terminal that was opened again, and its descriptor. Callers hold the writer's lock.
        static OPENED: Mutex<Option<(libc::dev_t, libc::c_int)>> = Mutex::new(None);
        let mut opened = OPENED.try_lock().map_err(|_| ErrorKind::WouldBlock)?;
        let device = file_status()?.st_rdev;
        let fd = match *opened {
            Some((known, fd)) if known == device => fd,
            _ => {
                let flags = libc::O_WRONLY | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
                // SAFETY: the path is a C string; a new descriptor comes back, or an error.
                let fd = unsafe { libc::open(c"/proc/self/fd/2".as_ptr(), flags) };
                if fd < 0 {
                    return Err(ErrorKind::Unsupported.into());
                }
                if let Some((_, old)) = opened.replace((device, fd)) {
                    // SAFETY: opened here, and used by no other code.
                    unsafe { libc::close(old) };
                }
                fd
            }
        };
        // SAFETY: the pointer and the length are those of a slice.
        checked(unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) })
    }

    #[cfg(not(target_os = "linux"))]
    fn terminal(_: &[u8]) -> Result<usize> {
        Err(ErrorKind::Unsupported.into())
    }

    /// Returns true if standard error has a position: files have a position; pipes, sockets and terminals do not. Does not call
    /// `fstat`, because reading the times of a file makes the next write several times slower.
    fn is_file() -> bool {
        // SAFETY: a plain system call.
        unsafe { libc::lseek(FD, 0, libc::SEEK_CUR) >= 0 }
    }

    fn file_type() -> Result<libc::mode_t> {
        Ok(file_status()?.st_mode & libc::S_IFMT)
    }

    fn file_status() -> Result<libc::stat> {
        let mut stat = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: `fstat` writes to the memory that it is given and to nothing else.
        checked(unsafe { libc::fstat(FD, stat.as_mut_ptr()) } as isize)?;
        // SAFETY: `fstat` succeeded, so it has written the whole structure.
        Ok(unsafe { stat.assume_init() })
    }

    /// Waits until a write would not block, or would fail. Returns false if the timeout passes or a signal interrupts the wait.
    fn is_writable(timeout_ms: libc::c_int) -> bool {
        let mut poll = libc::pollfd { fd: FD, events: libc::POLLOUT, revents: 0 };
        // SAFETY: `poll` reads and writes the one entry that it is given.
        unsafe { libc::poll(&raw mut poll, 1, timeout_ms) > 0 }
    }

    fn plain(bytes: &[u8]) -> Result<usize> {
        // SAFETY: the pointer and the length are those of a slice.
        checked(unsafe { libc::write(FD, bytes.as_ptr().cast(), bytes.len()) })
    }

    fn socket(bytes: &[u8]) -> Result<usize> {
        // SAFETY: the pointer and the length are those of a slice.
        checked(unsafe { libc::send(FD, bytes.as_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT) })
    }

    /// Writes without blocking, mainly to pipes. `poll` before a plain write is not sufficient, because other writers may fill the
    /// pipe in between.
    #[cfg(target_os = "linux")]
    fn nowait(bytes: &[u8]) -> Result<usize> {
        let part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        // Both halves of the offset -1, which means the current position of the file.
        let (low, high): (libc::c_long, libc::c_long) = (-1, -1);
        // SAFETY: the one part is a slice, which the kernel only reads; the arguments are those of `pwritev2`.
        let written =
            unsafe { libc::syscall(libc::SYS_pwritev2, FD, &raw const part, 1_usize, low, high, libc::RWF_NOWAIT) };
        checked(written as isize).map_err(|error| match error.raw_os_error() {
            // Kernels before 6.4 do not support `RWF_NOWAIT` for pipes, many file systems do not support it at all, and some
            // sandboxes forbid the call.
            Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::EPERM) => ErrorKind::Unsupported.into(),
            _ => error,
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn nowait(_: &[u8]) -> Result<usize> {
        Err(ErrorKind::Unsupported.into())
    }

    fn checked(result: isize) -> Result<usize> {
        usize::try_from(result).map_err(|_| Error::last_os_error())
    }
}

/// For systems without file descriptors: the caller makes a blocking write.
#[cfg(not(all(unix, not(miri))))]
mod portable {
    use std::io::Write;

    pub(in crate::base::notice) fn write_now(bytes: &[u8]) -> usize {
        write(bytes);
        bytes.len()
    }

    pub(in crate::base::notice) fn write(bytes: &[u8]) {
        // An error of standard error cannot be reported anywhere else.
        let _ = std::io::stderr().write_all(bytes);
    }
}
