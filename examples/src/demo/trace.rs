//! A trace as a tree, across all processes.

use super::received::{Line, Received, Span};

/// A trace with its spans in depth-first order.
pub(crate) struct Trace<'a> {
    pub(crate) rows: Vec<Row<'a>>,
    /// The beginning and end of the trace.
    pub(crate) start: u64,
    pub(crate) end: u64,
}

pub(crate) struct Row<'a> {
    pub(crate) span: &'a Span,
    pub(crate) depth: usize,
    pub(crate) children: usize,
    /// The position among its siblings, from 1, and their number.
    pub(crate) place: (usize, usize),
}

impl<'a> Trace<'a> {
    /// Returns all traces, by start time.
    pub(crate) fn all(received: &'a Received) -> Vec<Trace<'a>> {
        let mut ids: Vec<_> = received.spans.iter().map(|span| span.trace_id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut traces: Vec<_> = ids.into_iter().map(|id| Trace::new(&received.spans, id)).collect();
        traces.sort_by_key(|trace| trace.start);
        traces
    }

    fn new(spans: &'a [Span], trace_id: &str) -> Self {
        let mut spans: Vec<_> = spans.iter().filter(|span| span.trace_id == trace_id).collect();
        spans.sort_by_key(|span| (span.start, span.end));
        let (start, end) = (spans.iter().map(|span| span.start).min(), spans.iter().map(|span| span.end).max());
        let mut trace = Trace { rows: Vec::new(), start: start.unwrap_or_default(), end: end.unwrap_or_default() };
        let is_known = |id: &str| spans.iter().any(|span| span.span_id == id);
        let roots: Vec<_> = spans.iter().copied().filter(|span| !is_known(&span.parent_id)).collect();
        trace.add(&spans, roots, 0);
        trace
    }

    fn add(&mut self, spans: &[&'a Span], siblings: Vec<&'a Span>, depth: usize) {
        let count = siblings.len();
        for (number, span) in siblings.into_iter().enumerate() {
            let children: Vec<_> = spans.iter().copied().filter(|child| child.parent_id == span.span_id).collect();
            self.rows.push(Row { span, depth, children: children.len(), place: (number + 1, count) });
            self.add(spans, children, depth + 1);
        }
    }

    pub(crate) fn root(&self) -> Option<&'a Span> {
        self.rows.first().map(|row| row.span)
    }

    pub(crate) fn spans(&self) -> impl Iterator<Item = &'a Span> {
        self.rows.iter().map(|row| row.span)
    }

    pub(crate) fn span(&self, id: &str) -> Option<&'a Span> {
        self.spans().find(|span| span.span_id == id)
    }

    /// Whether the trace is a request for this artifact.
    pub(crate) fn loads(&self, artifact: &str) -> bool {
        self.root()
            .is_some_and(|root| root.name == "Client/LoadModel" && root.attribute("tc.artifact.id") == Some(artifact))
    }

    /// Returns the trace's log lines, by time.
    pub(crate) fn lines(&self, received: &'a Received) -> Vec<&'a Line> {
        let trace_id = self.root().map(|root| root.trace_id.as_str()).unwrap_or_default();
        let mut lines: Vec<_> = received.lines.iter().filter(|line| line.trace_id == trace_id).collect();
        lines.sort_by_key(|line| line.time);
        lines
    }

    /// Returns the trace's processes, in the order of the tree.
    pub(crate) fn processes(&self) -> Vec<&'a str> {
        let mut processes = Vec::new();
        for span in self.spans() {
            if !processes.contains(&span.process.as_str()) {
                processes.push(&span.process);
            }
        }
        processes
    }
}
