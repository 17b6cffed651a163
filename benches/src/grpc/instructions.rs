//! Counts the instructions that a layer adds to a call, without a network.

use super::case::Case;
use super::variants::{self, NONE, NONE_ROOT, Started, VARIANTS, Variant};
use super::{clients, http, streams};
use crate::callgrind::Extent;
use crate::{callgrind, peers};

/// Makes calls through one layer, under callgrind.
pub fn run_here(name: &str, calls: u64) {
    let mut cases = [clients::CASES, streams::CASES, http::CASES].into_iter().flatten();
    if let Some(case) = cases.find(|case| case.name == name) {
        return count(name, case.start, case.records, calls, &case.direct);
    }
    let variant = VARIANTS.iter().find(|variant| variant.name == name).expect("a known variant");
    let records = if variant.records { 10 } else { 0 };
    count(name, variant.start, records, calls, &|calls| (variant.direct)(variant.traceparent, calls));
}

fn count(name: &str, start: fn() -> Started, records: u64, calls: u64, direct: &dyn Fn(u64)) {
    let _started = start();
    // One-time work, such as learning a method, is not counted.
    direct(10);
    peers::check(name, 0, records);
    tracecast_called(direct, calls);
}

/// Callgrind counts only inside this function.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn tracecast_called(direct: &dyn Fn(u64), calls: u64) {
    direct(calls);
}

/// Returns each variant's instructions over no layer; `None` without valgrind.
pub fn extra(extent: Extent) -> Option<Vec<(&'static Variant, f64)>> {
    let quick = [
        NONE,
        NONE_ROOT,
        variants::SAMPLED_NAME,
        variants::UNSAMPLED_NAME,
        variants::OFF_BELOW_NAME,
        variants::OFF_NAME,
    ];
    let shown = |variant: &&Variant| extent.has(variant.name, &quick);
    let shown: Vec<&Variant> = VARIANTS.iter().filter(shown).collect();
    let base = |variant: &Variant| if variant.traceparent.is_some() { NONE } else { NONE_ROOT };
    over(&shown, |variant| variant.name, base)
}

/// Returns the instructions of these cases; a quick run counts only those of `quick`.
pub fn extra_of(cases: &'static [Case], quick: &[&str], extent: Extent) -> Option<Vec<(&'static Case, f64)>> {
    let is_base = |case: &Case| case.name == case.base;
    let shown = |case: &&Case| is_base(case) || extent.has(case.name, quick);
    let shown: Vec<&Case> = cases.iter().filter(shown).collect();
    over(&shown, |case| case.name, |case| case.base)
}

/// Counts all cases, and subtracts the count of the case that each is compared with.
fn over<T: Sync>(
    shown: &[&'static T],
    name: impl Fn(&T) -> &'static str + Sync,
    base: impl Fn(&T) -> &'static str,
) -> Option<Vec<(&'static T, f64)>> {
    let counts = callgrind::at_once(shown, |this| per_call(name(this)));
    let counts: Vec<f64> = counts.into_iter().collect::<Option<_>>()?;
    let of = |wanted: &str| shown.iter().position(|this| name(this) == wanted).map_or(f64::NAN, |at| counts[at]);
    Some(shown.iter().zip(&counts).map(|(this, count)| (*this, count - of(base(this)))).collect())
}

fn per_call(name: &str) -> Option<f64> {
    let (few, many) = (100, 1_100);
    let count = |calls: u64| callgrind::collected("tracecast_called", &["--grpc-count", name, &calls.to_string()]);
    Some(count(many)?.saturating_sub(count(few)?) as f64 / (many - few) as f64)
}
