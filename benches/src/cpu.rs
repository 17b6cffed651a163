//! Processor time, from the kernel.

use std::time::Duration;

/// Returns the processor time of all threads of this process.
pub fn of_process() -> Duration {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Returns the processor time of all child processes that have ended, including their descendants.
pub fn of_children() -> Duration {
    // SAFETY: all zeros are a valid value of these numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the usage is a valid place to write to.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) };
    let of =
        |time: libc::timeval| Duration::new(time.tv_sec.unsigned_abs(), time.tv_usec.unsigned_abs() as u32 * 1_000);
    of(usage.ru_utime) + of(usage.ru_stime)
}

/// A thread whose processor time can be read from any other.
#[derive(Clone, Copy)]
pub struct Thread(libc::clockid_t);

impl Thread {
    /// Returns the calling thread. It must live for as long as its time is read.
    pub fn current() -> Self {
        let mut clock = libc::CLOCK_THREAD_CPUTIME_ID;
        // SAFETY: the calling thread lives, and the clock is a valid place to write to.
        unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) };
        Thread(clock)
    }

    pub fn now(self) -> Duration {
        read(self.0)
    }
}

fn read(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is a valid place to write to; an invalid clock leaves it unchanged.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
