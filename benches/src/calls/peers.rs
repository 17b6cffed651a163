//! The same calls with peers; if one library has no spans or no metrics, with two.

use std::hint::black_box;

use autometrics::autometrics;
use fastrace::local::LocalSpan;
use fastrace::prelude::trace;

use super::{Contender, LIMIT, LIMIT_CHAIN, chains, of, repeat};
use crate::spans::{Fastrace, Library, Phase};
use crate::work::{self, Letter};

pub const ZERO: &str = "fastrace, 0 attributes";
pub const FOUR: &str = "fastrace, 4 attributes";
pub const RESULT: &str = "fastrace, 1 attribute of the result";
pub const METRIC: &str = "autometrics: calls, duration, in flight";
pub const BOTH: &str = "fastrace and autometrics: calls, duration";
pub const CHAIN: &str = "fastrace, 11 async spans over 10 awaits";

pub const CONTENDERS: [Contender; 6] = [
    of(ZERO, || rooted(Fastrace::zero), LIMIT, None),
    of(FOUR, || rooted(Fastrace::four), LIMIT, None),
    of(RESULT, || rooted(result), LIMIT, None),
    of(METRIC, || repeat(|x| work::call(metric, x)), LIMIT, None),
    of(BOTH, || rooted(|x| work::call(both, x)), LIMIT, None),
    of(CHAIN, || Fastrace::rooted(&mut || chains(|x| work::drive(Fastrace::chain(x)))), LIMIT_CHAIN, None),
];

/// Started once per process.
pub fn start() {
    std::mem::forget(Fastrace::start(Phase::Recorded));
}

/// Drains the spans of a round.
pub fn settle() {
    Fastrace::settle();
}

fn rooted<R>(work: impl Fn(u64) -> R) {
    Fastrace::rooted(&mut || repeat(&work));
}

#[inline(never)]
fn result(x: u64) -> bool {
    let span = LocalSpan::enter_with_local_parent("Bench/Result");
    let result = work::plain_result(x);
    let _span = match &result {
        Ok(number) => span.with_property(|| ("bench.number", number.to_string())),
        Err(error) => span.with_property(|| ("error.message", error.to_string())),
    };
    black_box(result).is_ok()
}

#[inline(never)]
#[autometrics(track_concurrency)]
fn metric(_: u64, _: Letter, _: Letter) {}

#[inline(never)]
#[trace(name = "Bench/Both")]
#[autometrics]
fn both(_: u64, _: Letter, _: Letter) {}
