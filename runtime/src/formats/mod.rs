//! Parses and writes propagation headers: W3C Trace Context, W3C Baggage and B3.
//!
//! Parsing takes linear time up to a bounded length and keeps a bounded text, whatever a peer sends. Parsing returns no errors:
//! invalid headers are treated as missing. Numbers are parsed without allocating.

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

/// The content of `traceparent` and `tracestate`, the two headers of W3C Trace Context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TraceContext {
    pub(crate) parent: TraceParent,
    pub(crate) state: TraceState,
}

impl TraceContext {
    /// Parses the values of all headers of each name, in their order. Returns `None` unless there is exactly one `traceparent`
    /// and it is valid. An invalid `tracestate` becomes empty.
    pub(crate) fn parse<'a>(
        parents: impl IntoIterator<Item = &'a [u8]>,
        states: impl IntoIterator<Item = &'a [u8]>,
    ) -> Option<Self> {
        let mut parents = parents.into_iter();
        let parent = parents.next().and_then(TraceParent::parse)?;
        // More than one parent is ambiguous, even if all parents are equal.
        if parents.next().is_some() {
            return None;
        }
        Some(TraceContext { parent, state: TraceState::parse(states) })
    }
}

/// Trims HTTP's optional whitespace, which is spaces and tabs only: `trim_ascii` would also trim line ends.
fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

fn trim_text(value: &str) -> &str {
    value.trim_matches([' ', '\t'])
}
