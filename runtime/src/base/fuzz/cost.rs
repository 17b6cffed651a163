//! Checks the memory and the time that a parser takes.

use std::time::Duration;

#[path = "../../../tests/support/counting.rs"]
mod counting;

/// Runs `f` and returns its result. Panics if `f` allocates more than `bytes` in total, including memory that it frees again.
#[track_caller]
pub(crate) fn within<T>(bytes: usize, f: impl FnOnce() -> T) -> T {
    let before = counting::BYTES.get();
    let result = f();
    let allocated = counting::BYTES.get() - before;
    assert!(allocated <= bytes, "allocated {allocated} bytes, at most {bytes} are allowed");
    result
}

/// The lengths of the two inputs. A quadratic parser takes 256 times as long for the second one.
const LENGTHS: [usize; 2] = [4 << 10, 64 << 10];
/// The largest accepted ratio of the two times. A linear parser takes 16 times as long; the rest allows for a busy
/// machine.
const FACTOR: u32 = 80;
const ROUNDS: usize = 5;

/// Asserts that the time of `parse` grows with the length of its input and not with the square of the length. The input is
/// `head`, followed by results of `repeated` up to each length. Measures the processor time of the thread, which excludes other
/// processes.
#[track_caller]
pub(crate) fn assert_linear(head: &str, repeated: impl Fn(usize) -> String, parse: impl Fn(&[u8])) {
    let [short, long] = LENGTHS.map(|length| {
        let mut input = head.to_owned();
        for at in 0.. {
            if input.len() >= length {
                break;
            }
            input.push_str(&repeated(at));
        }
        fastest(|| parse(input.as_bytes()))
    });
    // The clock itself takes part of a microsecond.
    let allowed = short.max(Duration::from_micros(2)) * FACTOR;
    assert!(long <= allowed, "{head}{}…: {long:?} for {} bytes, {short:?} for {}", repeated(0), LENGTHS[1], LENGTHS[0]);
}

fn fastest(f: impl Fn()) -> Duration {
    let round = || {
        let before = processor_time();
        f();
        processor_time() - before
    };
    (0..ROUNDS).map(|_| round()).min().unwrap_or_default()
}

#[cfg(unix)]
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is a valid place to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// Returns elapsed time: std has no processor time for other systems.
#[cfg(not(unix))]
fn processor_time() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}
