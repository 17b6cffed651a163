//! Tracecast: attributes with values known in advance are labels, others are texts.

use std::any::Any;
use std::hint::black_box;

use tracecast::Sampler;
use tracecast::prelude::*;
use tracecast::testing::{Recording, RecordingConfig};

use super::library::{Library, Phase};
use crate::peers;
use crate::work::{self, Letter, keys};

pub struct Tracecast;

impl Library for Tracecast {
    const NAME: &'static str = "tracecast";

    /// Spans are recorded, and drained between rounds as the export thread would do.
    fn start(phase: Phase) -> Option<Box<dyn Any>> {
        let sampler = match phase {
            Phase::Off => return Some(Box::new(())),
            Phase::Unsampled => Sampler::AlwaysOff,
            Phase::Recorded => Sampler::AlwaysOn,
        };
        let recording = Recording::start(RecordingConfig::default().with_sampler(sampler));
        Some(Box::new(recording.expect("nothing else records")))
    }

    fn rooted(inside: &mut dyn FnMut()) {
        work::root(inside);
    }

    fn settle() {
        peers::tracecast::drain(Vec::new());
    }

    fn zero(x: u64) -> u64 {
        work::span(x)
    }

    fn two(x: u64) -> u64 {
        two(x)
    }

    fn four(x: u64) -> u64 {
        work::span_four(x)
    }

    fn strings(x: u64, first: &str, second: &str) -> u64 {
        work::span_strings(x, first, second)
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
        work::chain(x)
    }

    fn task(x: u64) -> impl Future<Output = u64> + Send + 'static {
        work::link(x)
    }
}

#[inline(never)]
#[tc_span("Bench/Two", attrs(keys::one = Letter::A, keys::two = Letter::B))]
fn two(x: u64) -> u64 {
    black_box(x).wrapping_mul(3)
}

#[inline(never)]
#[tc_span("Bench/Event")]
fn event(x: u64) -> u64 {
    tracecast::current().event_with("bench.event", |event| event.set(keys::one, Letter::A));
    black_box(x).wrapping_mul(3)
}

#[inline(never)]
#[tc_span("Bench/Branch")]
fn branch(x: u64) -> u64 {
    (0..10).map(|n| work::span(x + n)).sum()
}

#[inline(never)]
#[tc_span("Bench/Tree")]
fn tree(x: u64) -> u64 {
    (0..9).map(|n| branch(x + n)).sum()
}
