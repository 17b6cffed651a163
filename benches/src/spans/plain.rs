//! The plain work, and the minimum of a span.

use std::any::Any;
use std::hint::black_box;

use super::library::{Library, Phase};
use crate::work;

/// No telemetry at all.
pub struct Plain;

impl Library for Plain {
    const NAME: &'static str = "plain";

    fn start(_: Phase) -> Option<Box<dyn Any>> {
        Some(Box::new(()))
    }

    fn rooted(inside: &mut dyn FnMut()) {
        inside();
    }

    fn zero(x: u64) -> u64 {
        work::plain(x)
    }

    fn two(x: u64) -> u64 {
        work::plain(x)
    }

    fn four(x: u64) -> u64 {
        work::plain(x)
    }

    fn strings(x: u64, first: &str, second: &str) -> u64 {
        black_box((first, second));
        work::plain(x)
    }

    fn event(x: u64) -> u64 {
        work::plain(x)
    }

    #[inline(never)]
    fn branch(x: u64) -> u64 {
        (0..10).map(|n| Self::zero(x + n)).sum()
    }

    #[inline(never)]
    fn tree(x: u64) -> u64 {
        (0..9).map(|n| Self::branch(x + n)).sum()
    }

    async fn chain(x: u64) -> u64 {
        let mut sum = 0;
        for n in 0..10 {
            sum += work::plain_link(x + n).await;
        }
        sum
    }

    async fn task(x: u64) -> u64 {
        work::plain_link(x).await
    }
}

/// Two counter readings and a store of 64 bytes per span.
pub struct Limit;

impl Library for Limit {
    const NAME: &'static str = "limit";

    fn start(_: Phase) -> Option<Box<dyn Any>> {
        Some(Box::new(()))
    }

    fn rooted(inside: &mut dyn FnMut()) {
        inside();
    }

    fn zero(x: u64) -> u64 {
        work::limit(x, &mut [0; 8])
    }

    fn two(x: u64) -> u64 {
        Self::zero(x)
    }

    fn four(x: u64) -> u64 {
        Self::zero(x)
    }

    fn strings(x: u64, first: &str, second: &str) -> u64 {
        black_box((first, second));
        Self::zero(x)
    }

    fn event(x: u64) -> u64 {
        Self::zero(Self::zero(x))
    }

    fn branch(x: u64) -> u64 {
        (0..10).map(|n| Self::zero(x + n)).sum::<u64>() + Self::zero(x)
    }

    fn tree(x: u64) -> u64 {
        (0..9).map(|n| Self::branch(x + n)).sum::<u64>() + Self::zero(x)
    }

    fn chain(x: u64) -> impl Future<Output = u64> {
        work::limit_chain(x)
    }

    async fn task(x: u64) -> u64 {
        work::plain_link(Self::zero(x)).await
    }
}
