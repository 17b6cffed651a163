//! `tracing` with its attribute, and tracing-opentelemetry below it.

use std::any::Any;
use std::hint::black_box;

use tracing::{Instrument as _, info_span, instrument};

use super::library::{Library, Phase};
use super::sdk::Sdk;
use crate::peers;
use crate::work::Pause;

pub struct Tracing;

impl Library for Tracing {
    const NAME: &'static str = "tracing-opentelemetry";

    /// "Off" means without a subscriber.
    fn start(phase: Phase) -> Option<Box<dyn Any>> {
        let provider = match phase {
            Phase::Off => return Some(Box::new(())),
            Phase::Unsampled => peers::sdk::unsampled_spans(),
            Phase::Recorded => peers::sdk::spans(),
        };
        peers::tracing::install(&provider);
        Some(Box::new(provider))
    }

    fn rooted(inside: &mut dyn FnMut()) {
        info_span!("Bench/Root").in_scope(inside);
    }

    fn settle() {
        Sdk::settle();
    }

    fn zero(x: u64) -> u64 {
        zero(x)
    }

    fn two(x: u64) -> u64 {
        two(x)
    }

    fn four(x: u64) -> u64 {
        four(x)
    }

    fn strings(x: u64, first: &str, second: &str) -> u64 {
        strings(x, first, second)
    }

    fn event(x: u64) -> u64 {
        event(x)
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

    fn task(x: u64) -> impl Future<Output = u64> + Send + 'static {
        wait(x).instrument(info_span!("Bench/Link"))
    }
}

#[inline(never)]
#[instrument(name = "Bench/Sync", skip_all)]
fn zero(x: u64) -> u64 {
    black_box(x).wrapping_mul(3)
}

#[inline(never)]
#[instrument(name = "Bench/Two", skip_all, fields(bench.one = "a", bench.two = "b"))]
fn two(x: u64) -> u64 {
    black_box(x).wrapping_mul(3)
}

#[inline(never)]
#[instrument(name = "Bench/Four", skip_all, fields(bench.one = "a", bench.two = "b", bench.three = "c", bench.four = "d"))]
fn four(x: u64) -> u64 {
    black_box(x).wrapping_mul(3)
}

#[inline(never)]
#[instrument(name = "Bench/Strings", skip_all, fields(bench.first = first, bench.second = second))]
fn strings(x: u64, first: &str, second: &str) -> u64 {
    black_box(x).wrapping_mul(3)
}

#[inline(never)]
#[instrument(name = "Bench/Event", skip_all)]
fn event(x: u64) -> u64 {
    tracing::info!(bench.one = "a", "bench.event");
    black_box(x).wrapping_mul(3)
}

#[inline(never)]
#[instrument(name = "Bench/Branch", skip_all)]
fn branch(x: u64) -> u64 {
    (0..10).map(|n| zero(x + n)).sum()
}

#[inline(never)]
#[instrument(name = "Bench/Tree", skip_all)]
fn tree(x: u64) -> u64 {
    (0..9).map(|n| branch(x + n)).sum()
}

#[instrument(name = "Bench/Chain", skip_all)]
async fn chain(x: u64) -> u64 {
    let mut sum = 0;
    for n in 0..10 {
        sum += link(x + n).await;
    }
    sum
}

#[inline(never)]
#[instrument(name = "Bench/Link", skip_all)]
async fn link(x: u64) -> u64 {
    wait(x).await
}

async fn wait(x: u64) -> u64 {
    Pause::default().await;
    black_box(x)
}
