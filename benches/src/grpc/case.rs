//! One layer around one service, of which instructions are counted.

use super::variants::Started;

/// A layer around a service that is called without a network.
pub struct Case {
    pub name: &'static str,
    /// The same without a layer.
    pub base: &'static str,
    /// Also says what is current while it is called.
    pub start: fn() -> Started,
    /// Makes so many calls, or one of so many messages.
    pub direct: fn(u64),
    /// Spans that are exported if it is done ten times.
    pub records: u64,
    /// Over no layer, at most so many instructions more.
    pub target: Option<f64>,
    /// Who is shown beside it.
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
