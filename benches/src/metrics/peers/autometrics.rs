//! autometrics on prometheus-client: a function's calls, duration and concurrency. It has no user-defined labels.

use autometrics::autometrics;

use super::super::{Contender, repeat_labelled};
use crate::work::Letter;

pub const CONTENDERS: &[Contender] = &[("autometrics: calls, duration, in flight", || repeat_labelled(measured))];

#[inline(never)]
#[autometrics(track_concurrency)]
fn measured(_: u64, _: Letter, _: Letter) {}
