//! The measured functions: the same work plain, with Tracecast, and with peers.

use std::hint::black_box;

use fastrace::local::LocalSpan;
use tracecast::prelude::*;

/// Four closed values: the usual declaration of texts that are known in advance.
#[derive(Clone, Copy, TcLabel)]
pub enum Letter {
    A,
    B,
    C,
    D,
}

impl Letter {
    pub fn of(number: u64) -> Self {
        match number % 4 {
            0 => Letter::A,
            1 => Letter::B,
            2 => Letter::C,
            _ => Letter::D,
        }
    }
}

pub mod keys {
    tracecast::tc_keys! {
        /// The first of four.
        pub label one: super::Letter = "bench.one";
        /// The second of four.
        pub label two: super::Letter = "bench.two";
        /// The third of four.
        pub label three: super::Letter = "bench.three";
        /// The fourth of four.
        pub label four: super::Letter = "bench.four";
        /// An open text.
        pub id first: str = "bench.first";
        /// Another one.
        pub id second: str = "bench.second";
        /// A number.
        pub measure number: u64 = "bench.number";
    }
}

#[inline(never)]
pub fn plain(x: u64) -> u64 {
    black_box(x).wrapping_mul(3)
}

#[inline(never)]
#[tc_span("Bench/Sync")]
pub fn span(x: u64) -> u64 {
    black_box(x).wrapping_mul(3)
}

#[inline(never)]
pub fn plain_result(x: u64) -> Result<u64, std::num::TryFromIntError> {
    Ok(u64::from(u32::try_from(black_box(x))?))
}

#[inline(never)]
#[tc_span("Bench/Result")]
pub fn span_result(x: u64) -> Result<u64, std::num::TryFromIntError> {
    Ok(u64::from(u32::try_from(black_box(x))?))
}

/// With an attribute from the result.
#[inline(never)]
#[tc_span("Bench/ResultAttribute", result(keys::number = |number| *number))]
pub fn span_result_attribute(x: u64) -> Result<u64, std::num::TryFromIntError> {
    Ok(u64::from(u32::try_from(black_box(x))?))
}

#[inline(never)]
#[tc_span("Bench/Four", attrs(keys::one = Letter::A, keys::two = Letter::B, keys::three = Letter::C, keys::four = Letter::D))]
pub fn span_four(x: u64) -> u64 {
    black_box(x).wrapping_mul(3)
}

#[inline(never)]
#[tc_span("Bench/Strings", attrs(keys::first = first, keys::second = second))]
pub fn span_strings(x: u64, first: &str, second: &str) -> u64 {
    black_box(x).wrapping_mul(3)
}

#[inline(never)]
pub fn plain_owned(x: u64, text: String) -> usize {
    black_box(x).wrapping_mul(3) as usize + text.len()
}

#[inline(never)]
#[tc_span("Bench/Owned", attrs(keys::first = &text))]
pub fn span_owned(x: u64, text: String) -> usize {
    black_box(x).wrapping_mul(3) as usize + text.len()
}

#[inline(never)]
pub fn fastrace_span(x: u64) -> u64 {
    let _span = LocalSpan::enter_with_local_parent("Bench/Sync");
    black_box(x).wrapping_mul(3)
}

#[inline(never)]
pub async fn plain_async(x: u64) -> u64 {
    black_box(x).wrapping_mul(3)
}

#[inline(never)]
#[tc_span("Bench/Async")]
pub async fn span_async(x: u64) -> u64 {
    black_box(x).wrapping_mul(3)
}

/// Not an async block: the body runs when the function is called.
#[inline(never)]
pub fn plain_returned(x: u64) -> impl Future<Output = u64> {
    std::future::ready(black_box(x).wrapping_mul(3))
}

#[inline(never)]
#[tc_span("Bench/Returned")]
pub fn span_returned(x: u64) -> impl Future<Output = u64> {
    std::future::ready(black_box(x).wrapping_mul(3))
}

/// A future that yields `self.0` times.
pub struct Yields(pub u64);

impl Future for Yields {
    type Output = ();

    fn poll(mut self: std::pin::Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<()> {
        if self.0 == 0 {
            return std::task::Poll::Ready(());
        }
        self.0 -= 1;
        std::task::Poll::Pending
    }
}

/// Waits once, with or without a runtime.
#[derive(Default)]
pub struct Pause(bool);

impl Future for Pause {
    type Output = ();

    fn poll(mut self: std::pin::Pin<&mut Self>, task: &mut std::task::Context<'_>) -> std::task::Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return std::task::Poll::Ready(());
        }
        task.waker().wake_by_ref();
        std::task::Poll::Pending
    }
}

#[inline(never)]
pub async fn plain_yields(times: u64) {
    Yields(times).await;
}

#[inline(never)]
#[tc_span("Bench/Yields")]
pub async fn span_yields(times: u64) {
    Yields(times).await;
}

#[tc_span("Bench/Chain")]
pub async fn chain(x: u64) -> u64 {
    let mut sum = 0;
    for n in 0..10 {
        sum += link(x + n).await;
    }
    sum
}

#[inline(never)]
#[tc_span("Bench/Link")]
pub async fn link(x: u64) -> u64 {
    Pause::default().await;
    black_box(x)
}

/// The same chain with the minimum of a span.
pub async fn limit_chain(x: u64) -> u64 {
    let mut sum = limit(x, &mut [0; 8]);
    for n in 0..10 {
        sum += plain_link(limit(x + n, &mut [0; 8])).await;
    }
    sum
}

#[inline(never)]
pub async fn plain_link(x: u64) -> u64 {
    Pause::default().await;
    black_box(x)
}

#[inline(never)]
#[tc_span("Bench/Root")]
pub fn root<R>(inside: impl FnOnce() -> R) -> R {
    inside()
}

/// Polls a future to completion without a runtime.
pub fn drive<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut task) {
            return output;
        }
    }
}

/// The minimum of a span: two counter readings and a store of 64 bytes.
#[inline(never)]
pub fn limit(x: u64, record: &mut [u64; 8]) -> u64 {
    let start = counter();
    let result = black_box(x).wrapping_mul(3);
    let end = counter();
    *record = [start, end, x, result, x, x, x, x];
    black_box(record);
    result
}

#[inline(always)]
fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reading the counter has no precondition.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        static ORIGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        ORIGIN.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64
    }
}

tc_metrics! {
    /// Counted.
    pub static COUNTED: Counter = "tc_bench_total";
    /// Counted by two labels.
    pub static COUNTED_TWO: Counter<(keys::one, keys::two)> = "tc_bench_labelled_total";
    /// Fractions, by two labels.
    pub static COUNTED_F64: Counter<(keys::one, keys::two), f64> = "tc_bench_joules_total";
    /// Up and down, by two labels.
    pub static UP_DOWN: UpDownCounter<(keys::one, keys::two)> = "tc_bench_active";
    /// A gauge by two labels.
    pub static GAUGE: Gauge<(keys::one, keys::two)> = "tc_bench_used_bytes";
    /// A histogram by two labels, with the default buckets.
    pub static HISTOGRAM: Histogram<(keys::one, keys::two)> = "tc_bench_seconds";
    /// An exponential histogram by two labels.
    pub static EXPONENTIAL: Histogram<(keys::one, keys::two)> = "tc_bench_exponential_seconds" { exponential };
}

/// A function with label arguments, used or not.
pub type Labelled = fn(u64, Letter, Letter);

/// Calls it through a pointer that the compiler cannot see through, so that unused arguments are not removed.
#[inline(always)]
pub fn call(work: Labelled, x: u64) {
    black_box(work)(x, Letter::of(x), Letter::of(x >> 2));
}

/// As many instructions as a counter has, without memory: the slowdown on two threads here is the machine's, as with
/// two threads that share a core.
#[inline(never)]
pub fn arithmetic(x: u64, _: Letter, _: Letter) {
    let (mut a, mut b) = (x, !x);
    for _ in 0..4 {
        a = black_box(a.rotate_left(7) ^ b);
        b = b.wrapping_add(a);
    }
    black_box(b);
}

/// Uses the whole width of a core for about a microsecond: a busy neighbour on the other half of the core shows here.
#[inline(never)]
pub fn wide(x: u64) -> u64 {
    let mut lanes: [u64; 8] = std::array::from_fn(|lane| x + lane as u64);
    for _ in 0..1_000 {
        // Independent chains, of instructions without a vector form.
        for (lane, turn) in lanes.iter_mut().zip([5, 7, 11, 13, 17, 19, 23, 29]) {
            *lane = lane.rotate_left(turn).wrapping_add(x);
        }
    }
    lanes.iter().fold(0, |all, lane| all ^ lane)
}

/// The minimum of a duration.
#[inline(never)]
pub fn clocks(_: u64, _: Letter, _: Letter) {
    black_box(counter().wrapping_sub(black_box(counter())));
}

/// The minimum of a counter with one number per thread: the slowdown on two cores here is the machine's.
#[inline(never)]
pub fn fetch_add_own(x: u64, _: Letter, _: Letter) {
    thread_local! {
        static SUM: std::sync::atomic::AtomicU64 = const { std::sync::atomic::AtomicU64::new(0) };
    }
    SUM.with(|sum| sum.fetch_add(x, std::sync::atomic::Ordering::Relaxed));
}

/// The minimum of a counter with one number for all threads.
#[inline(never)]
pub fn fetch_add(x: u64, _: Letter, _: Letter) {
    static SUM: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    SUM.fetch_add(x, std::sync::atomic::Ordering::Relaxed);
}

#[inline(never)]
pub fn counter_plain(x: u64, _: Letter, _: Letter) {
    COUNTED.add(x, ());
}

#[inline(never)]
pub fn plain_two(_: u64, _: Letter, _: Letter) {}

#[inline(never)]
pub fn counter_two(x: u64, one: Letter, two: Letter) {
    COUNTED_TWO.add(x, (one, two));
}

#[inline(never)]
pub fn counter_f64_two(x: u64, one: Letter, two: Letter) {
    COUNTED_F64.add(x, (one, two));
}

#[inline(never)]
pub fn up_down_two(x: u64, one: Letter, two: Letter) {
    UP_DOWN.add(if x & 1 == 0 { 1 } else { -1 }, (one, two));
}

#[inline(never)]
pub fn gauge_two(x: u64, one: Letter, two: Letter) {
    GAUGE.set(x, (one, two));
}

#[inline(never)]
pub fn histogram_two(x: u64, one: Letter, two: Letter) {
    HISTOGRAM.record(x, (one, two));
}

#[inline(never)]
pub fn exponential_two(x: u64, one: Letter, two: Letter) {
    EXPONENTIAL.record(x, (one, two));
}

#[inline(never)]
#[tc_metric(calls = "tc_bench_calls_total", duration = "tc_bench_calls_seconds", in_flight = "tc_bench_calls_active",
            labels(keys::one = one, keys::two = two))]
pub fn metric_two(_: u64, one: Letter, two: Letter) {}

#[inline(never)]
#[tc_span("Bench/Both")]
#[tc_metric(calls = "tc_bench_both_total", duration = "tc_bench_both_seconds", labels(keys::one = one, keys::two = two))]
pub fn both_two(_: u64, one: Letter, two: Letter) {}
