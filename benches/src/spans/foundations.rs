//! foundations: its attribute where that does, and tags on the current span, which are owned; an event is a log entry of the
//! span.

use std::any::Any;
use std::hint::black_box;

use foundations::telemetry::tracing::{self, span_fn};

use super::library::{Library, Phase};
use crate::peers;
use crate::work::Pause;

pub struct Foundations;

impl Library for Foundations {
    const NAME: &'static str = "foundations";

    /// "Off" means without `telemetry::init`.
    fn start(phase: Phase) -> Option<Box<dyn Any>> {
        if phase != Phase::Off {
            peers::foundations::install(phase == Phase::Recorded);
        }
        Some(Box::new(()))
    }

    fn rooted(inside: &mut dyn FnMut()) {
        let _root = tracing::span("Bench/Root");
        inside();
    }

    fn settle() {
        peers::foundations::flush();
    }

    fn zero(x: u64) -> u64 {
        zero(x)
    }

    #[inline(never)]
    fn two(x: u64) -> u64 {
        let _span = tracing::span("Bench/Two");
        tracing::add_span_tags!("bench.one" => "a", "bench.two" => "b");
        black_box(x).wrapping_mul(3)
    }

    #[inline(never)]
    fn four(x: u64) -> u64 {
        let _span = tracing::span("Bench/Four");
        tracing::add_span_tags!("bench.one" => "a", "bench.two" => "b", "bench.three" => "c", "bench.four" => "d");
        black_box(x).wrapping_mul(3)
    }

    #[inline(never)]
    fn strings(x: u64, first: &str, second: &str) -> u64 {
        let _span = tracing::span("Bench/Strings");
        tracing::add_span_tags!("bench.first" => first.to_owned(), "bench.second" => second.to_owned());
        black_box(x).wrapping_mul(3)
    }

    #[inline(never)]
    fn event(x: u64) -> u64 {
        let _span = tracing::span("Bench/Event");
        tracing::add_span_log_fields!("event" => "bench.event", "bench.one" => "a");
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

    /// A task gets its context explicitly, here with its own span.
    fn task(x: u64) -> impl Future<Output = u64> + Send + 'static {
        tracing::span("Bench/Link").into_context().apply(wait(x))
    }
}

#[inline(never)]
#[span_fn("Bench/Sync")]
fn zero(x: u64) -> u64 {
    black_box(x).wrapping_mul(3)
}

#[inline(never)]
#[span_fn("Bench/Branch")]
fn branch(x: u64) -> u64 {
    (0..10).map(|n| zero(x + n)).sum()
}

#[inline(never)]
#[span_fn("Bench/Tree")]
fn tree(x: u64) -> u64 {
    (0..9).map(|n| branch(x + n)).sum()
}

#[span_fn("Bench/Chain")]
async fn chain(x: u64) -> u64 {
    let mut sum = 0;
    for n in 0..10 {
        sum += link(x + n).await;
    }
    sum
}

#[inline(never)]
#[span_fn("Bench/Link")]
async fn link(x: u64) -> u64 {
    wait(x).await
}

async fn wait(x: u64) -> u64 {
    Pause::default().await;
    black_box(x)
}
