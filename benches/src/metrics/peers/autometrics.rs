//! autometrics on prometheus-client: calls, their duration and how many there are at a time, of a function. It has no labels of
//! the user's.

use autometrics::autometrics;

use super::super::{Contender, repeat_labelled};
use crate::work::Letter;

pub const CONTENDERS: &[Contender] = &[("autometrics: calls, duration, in flight", || repeat_labelled(measured))];

#[inline(never)]
#[autometrics(track_concurrency)]
fn measured(_: u64, _: Letter, _: Letter) {}
