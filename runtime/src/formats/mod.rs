//! Context on the wire: W3C Trace Context and Baggage, and B3. Parsing and writing only.
//!
//! Whatever a peer sends, parsing takes time in proportion to a bounded length and keeps a bounded text; it never fails:
//! what breaks a rule is as if it had not been sent. Numbers are parsed without allocating.

mod b3;
mod baggage;
#[cfg(all(test, not(loom), not(miri)))]
mod fuzz;
pub(crate) mod hex;
mod percent;
#[cfg(test)]
mod suite;
mod traceparent;
mod tracestate;

pub(crate) use b3::{B3, Decision};
pub(crate) use baggage::Baggage;
pub(crate) use traceparent::TraceParent;
pub(crate) use tracestate::TraceState;

pub(crate) const TRACEPARENT: &str = "traceparent";
pub(crate) const TRACESTATE: &str = "tracestate";
pub(crate) const BAGGAGE: &str = "baggage";

/// What the two headers of W3C Trace Context say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TraceContext {
    pub(crate) parent: TraceParent,
    pub(crate) state: TraceState,
}

impl TraceContext {
    /// The values of all headers of each name, in their order. Without a valid parent the state means nothing.
    pub(crate) fn parse<'a>(
        parents: impl IntoIterator<Item = &'a [u8]>,
        states: impl IntoIterator<Item = &'a [u8]>,
    ) -> Option<Self> {
        let mut parents = parents.into_iter();
        let parent = parents.next().and_then(TraceParent::parse)?;
        // Two parents contradict each other, even if they look the same.
        if parents.next().is_some() {
            return None;
        }
        Some(TraceContext { parent, state: TraceState::parse(states) })
    }
}

/// Without the optional whitespace of HTTP, which is less than what `trim_ascii` takes.
fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

fn trim_text(value: &str) -> &str {
    value.trim_matches([' ', '\t'])
}
