//! A layer around a service, for counting instructions.

use super::variants::Started;

/// A layer around a service, called without a network.
pub struct Case {
    pub name: &'static str,
    /// The same without a layer.
    pub base: &'static str,
    /// Enters the context that is current during calls.
    pub start: fn() -> Started,
    /// Makes this number of calls, or one call with this number of messages.
    pub direct: fn(u64),
    /// Spans that ten runs export.
    pub records: u64,
    /// The limit of additional instructions over no layer.
    pub target: Option<f64>,
    /// The peer that is shown beside it.
    pub peer: Option<&'static str>,
}

impl Case {
    pub const fn new(name: &'static str, base: &'static str, start: fn() -> Started, direct: fn(u64)) -> Self {
        Case { name, base, start, direct, records: 0, target: None, peer: None }
    }

    pub const fn records(mut self, spans: u64) -> Self {
        self.records = spans;
        self
    }

    pub const fn target(mut self, instructions: f64, peer: &'static str) -> Self {
        (self.target, self.peer) = (Some(instructions), Some(peer));
        self
    }
}
