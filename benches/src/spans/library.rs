//! The work for each library: the same functions with the same names and attributes.

use std::any::Any;
use std::future::Future;

/// The state of telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not started: the functions are only annotated.
    Off,
    /// Started, and the trace's root is not sampled.
    Unsampled,
    /// All spans are recorded.
    Recorded,
}

impl Phase {
    pub const ALL: [Phase; 3] = [Phase::Off, Phase::Unsampled, Phase::Recorded];

    pub fn name(self) -> &'static str {
        match self {
            Phase::Off => "off",
            Phase::Unsampled => "unsampled",
            Phase::Recorded => "recorded",
        }
    }
}

/// A library for spans, or plain functions.
pub trait Library {
    const NAME: &'static str;

    /// Starts the library for the whole process in this phase, if it supports it; the result is kept.
    fn start(phase: Phase) -> Option<Box<dyn Any>>;

    /// Runs a round below a root.
    fn rooted(inside: &mut dyn FnMut());

    /// Drains the spans of a round, which is not part of the caller's work.
    fn settle() {}

    fn zero(x: u64) -> u64;
    fn two(x: u64) -> u64;
    fn four(x: u64) -> u64;
    /// Two strings that are known at run time only.
    fn strings(x: u64, first: &str, second: &str) -> u64;
    /// One event with one attribute, in a span without attributes.
    fn event(x: u64) -> u64;

    /// A span that calls ten times [`zero`](Self::zero).
    fn branch(x: u64) -> u64;
    /// A hundred spans: this one, nine branches, and their leaves.
    fn tree(x: u64) -> u64;

    /// A span that awaits ten others, each of which waits once.
    fn chain(x: u64) -> impl Future<Output = u64>;
    /// A span in a spawned task, below the current span.
    fn task(x: u64) -> impl Future<Output = u64> + Send + 'static;
}
