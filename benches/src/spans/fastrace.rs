//! fastrace: its attribute where that does, `LocalSpan` where there are properties; texts that are known in advance are
//! borrowed.

use std::any::Any;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use fastrace::future::FutureExt as _;
use fastrace::local::LocalSpan;
use fastrace::prelude::{Event, Span, SpanContext, trace};

use super::library::{Library, Phase};
use crate::peers;
use crate::work::{self, Pause};

pub struct Fastrace;

impl Library for Fastrace {
    const NAME: &'static str = "fastrace";

    /// fastrace has no sampler: an unsampled trace has an unsampled root.
    fn start(phase: Phase) -> Option<Box<dyn Any>> {
        if phase != Phase::Off {
            peers::fastrace::install();
        }
        STARTED.store(phase != Phase::Off, Relaxed);
        SAMPLED.store(phase == Phase::Recorded, Relaxed);
        Some(Box::new(()))
    }

    fn rooted(inside: &mut dyn FnMut()) {
        if !STARTED.load(Relaxed) {
            return inside();
        }
        let root = Span::root("Bench/Root", SpanContext::random().sampled(SAMPLED.load(Relaxed)));
        let _parent = root.set_local_parent();
        inside();
    }

    fn settle() {
        if STARTED.load(Relaxed) {
            fastrace::flush();
        }
    }

    fn zero(x: u64) -> u64 {
        zero(x)
    }

    #[inline(never)]
    fn two(x: u64) -> u64 {
        let _span = LocalSpan::enter_with_local_parent("Bench/Two")
            .with_properties(|| [("bench.one", "a"), ("bench.two", "b")]);
        black_box(x).wrapping_mul(3)
    }

    #[inline(never)]
    fn four(x: u64) -> u64 {
        let _span = LocalSpan::enter_with_local_parent("Bench/Four")
            .with_properties(|| [("bench.one", "a"), ("bench.two", "b"), ("bench.three", "c"), ("bench.four", "d")]);
        black_box(x).wrapping_mul(3)
    }

    #[inline(never)]
    fn strings(x: u64, first: &str, second: &str) -> u64 {
        let _span = LocalSpan::enter_with_local_parent("Bench/Strings")
            .with_properties(|| [("bench.first", first.to_owned()), ("bench.second", second.to_owned())]);
        black_box(x).wrapping_mul(3)
    }

    #[inline(never)]
    fn event(x: u64) -> u64 {
        let _span = LocalSpan::enter_with_local_parent("Bench/Event");
        LocalSpan::add_event(Event::new("bench.event").with_property(|| ("bench.one", "a")));
        black_box(x).wrapping_mul(3)
    }

    fn branch(x: u64) -> u64 {
        branch(x)
    }

    fn tree(x: u64) -> u64 {
        tree(x)
    }

    fn chain(x: u64) -> impl Future<Output = u64> {
        chain(x)
    }

    /// A task needs its own span, created from the current one when it is spawned.
    fn task(x: u64) -> impl Future<Output = u64> + Send + 'static {
        wait(x).in_span(Span::enter_with_local_parent("Bench/Link"))
    }
}

/// "Off" means without a root: it has no switch.
static STARTED: AtomicBool = AtomicBool::new(false);
/// Whether a root is sampled.
static SAMPLED: AtomicBool = AtomicBool::new(false);

/// Calls an async function below an unsampled root.
pub fn unsampled_async(calls: u64) {
    std::mem::forget(Fastrace::start(Phase::Unsampled));
    Fastrace::rooted(&mut || {
        for x in 0..calls {
            black_box(work::drive(one(black_box(x))));
        }
    });
}

#[inline(never)]
#[trace(name = "Bench/Async")]
async fn one(x: u64) -> u64 {
    black_box(x).wrapping_mul(3)
}

#[inline(never)]
#[trace(name = "Bench/Sync")]
fn zero(x: u64) -> u64 {
    black_box(x).wrapping_mul(3)
}

#[inline(never)]
#[trace(name = "Bench/Branch")]
fn branch(x: u64) -> u64 {
    (0..10).map(|n| zero(x + n)).sum()
}

#[inline(never)]
#[trace(name = "Bench/Tree")]
fn tree(x: u64) -> u64 {
    (0..9).map(|n| branch(x + n)).sum()
}

#[trace(name = "Bench/Chain")]
async fn chain(x: u64) -> u64 {
    let mut sum = 0;
    for n in 0..10 {
        sum += link(x + n).await;
    }
    sum
}

#[inline(never)]
#[trace(name = "Bench/Link")]
async fn link(x: u64) -> u64 {
    wait(x).await
}

async fn wait(x: u64) -> u64 {
    Pause::default().await;
    black_box(x)
}
