//! The functions that are measured: each the same work, plain, under Tracecast, under a peer.

use std::hint::black_box;

use fastrace::local::LocalSpan;
use tracecast::Static;
use tracecast::prelude::*;

/// Four closed values, as an engineer would declare texts that are known in advance.
#[derive(Clone, Copy, TcLabel)]
pub enum Letter {
    A,
    B,
    C,
    D,
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
#[tc_span("Bench/Static", attrs(keys::first = Static("a"), keys::second = Static("b")))]
pub fn span_static(x: u64) -> u64 {
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
pub fn fastrace_four(x: u64) -> u64 {
    let _span = LocalSpan::enter_with_local_parent("Bench/Four")
        .with_properties(|| [("bench.one", "a"), ("bench.two", "b"), ("bench.three", "c"), ("bench.four", "d")]);
    black_box(x).wrapping_mul(3)
}

#[inline(never)]
pub fn fastrace_strings(x: u64, first: &str, second: &str) -> u64 {
    let _span = LocalSpan::enter_with_local_parent("Bench/Strings")
        .with_properties(|| [("bench.first", first.to_owned()), ("bench.second", second.to_owned())]);
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

/// Yields `self.0` times.
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

#[inline(never)]
pub async fn plain_yields(times: u64) {
    Yields(times).await;
}

#[inline(never)]
#[tc_span("Bench/Yields")]
pub async fn span_yields(times: u64) {
    Yields(times).await;
}

#[inline(never)]
#[tc_span("Bench/Root")]
pub fn root<R>(inside: impl FnOnce() -> R) -> R {
    inside()
}

/// Polls to the end without a runtime.
pub fn drive<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut task) {
            return output;
        }
    }
}

/// What a span cannot do without: two readings of the counter and 64 bytes stored.
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
