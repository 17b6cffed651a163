//! Instructions that a layer adds to a call, without a network.

use super::variants::{self, NONE, NONE_ROOT, VARIANTS, Variant};
use crate::{callgrind, peers};

/// Makes calls through one layer; callgrind watches.
pub fn run_here(name: &str, calls: u64) {
    let variant = VARIANTS.iter().find(|variant| variant.name == name).expect("a known variant");
    let _started = (variant.start)();
    // What happens once, as a method that is met for the first time, is not counted.
    (variant.direct)(variant.traceparent, 10);
    peers::check(variant.name, 0, if variant.records { 10 } else { 0 });
    tracecast_called(variant, calls);
}

/// Callgrind counts inside of this function only.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn tracecast_called(variant: &Variant, calls: u64) {
    (variant.direct)(variant.traceparent, calls);
}

/// Instructions of each variant over those without a layer; none without valgrind.
pub fn extra(quick: bool) -> Option<Vec<(&'static Variant, f64)>> {
    // In a hurry only one of each kind: each run under valgrind takes a second.
    let hurried = [NONE, NONE_ROOT, variants::SAMPLED_NAME, variants::UNSAMPLED_NAME, variants::OFF_NAME];
    let shown = |variant: &&Variant| !quick || hurried.contains(&variant.name);
    let shown: Vec<&Variant> = VARIANTS.iter().filter(shown).collect();
    let counts = callgrind::at_once(&shown, |variant| Some((*variant, per_call(variant.name)?)));
    let counts: Vec<(&Variant, f64)> = counts.into_iter().collect::<Option<_>>()?;
    let of = |name: &str| counts.iter().find(|(known, _)| known.name == name).map_or(f64::NAN, |(_, count)| *count);
    let base = |variant: &Variant| of(if variant.traceparent.is_some() { NONE } else { NONE_ROOT });
    Some(counts.iter().map(|(variant, count)| (*variant, count - base(variant))).collect())
}

fn per_call(name: &str) -> Option<f64> {
    let (few, many) = (100, 1_100);
    let count = |calls: u64| callgrind::collected("tracecast_called", &["--grpc-count", name, &calls.to_string()]);
    Some(count(many)?.saturating_sub(count(few)?) as f64 / (many - few) as f64)
}
