//! Prints finished spans as indented text.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};

use crate::declare::callsite::Kind;
use crate::declare::value::OwnedValue;
use crate::record::finished::{Attribute, FinishedSpan, Outcome, Status};
use crate::record::ids::{SpanId, TraceId};

/// Returns the spans as indented text, each with its outcome, attributes, events and links.
pub(crate) fn full(spans: &[FinishedSpan]) -> String {
    print(&nodes(spans, true))
}

/// Returns the names, kinds and outcomes of the spans as indented text.
pub(crate) fn outline(spans: &[FinishedSpan]) -> String {
    print(&nodes(spans, false))
}

/// Returns the spans of this and other APIs as indented text, ordered by start: each with its duration, outcome, attributes,
/// events and links, and each root with its trace id.
#[cfg(has_otlp)]
pub(crate) fn timed(spans: &[FinishedSpan]) -> String {
    let mut nodes = nodes(spans, true);
    nodes.sort_by_key(|node| node.times.start);
    let is_root: Vec<_> = nodes.iter().map(|node| node.is_root(&nodes)).collect();
    for (node, is_root) in nodes.iter_mut().zip(is_root) {
        let trace = if is_root { format!(" trace={}", node.times.trace_id) } else { String::new() };
        node.head = format!("{} {:.2?}{trace}", node.head, std::time::Duration::from_nanos(node.times.nanos));
    }
    print(&nodes)
}

/// A printed span, of any API.
struct Node<'a> {
    name: &'a str,
    span_id: SpanId,
    parent: Option<SpanId>,
    /// The trace id, start and duration. Only `timed` prints them.
    #[cfg(has_otlp)]
    times: Times,
    /// The text after the name, on the same line.
    head: String,
    attributes: String,
    /// One line per event.
    events: Vec<String>,
    links: Vec<(TraceId, SpanId)>,
}

#[cfg(has_otlp)]
struct Times {
    trace_id: TraceId,
    start: u64,
    nanos: u64,
}

impl Node<'_> {
    fn is_root(&self, nodes: &[Node<'_>]) -> bool {
        !nodes.iter().any(|known| Some(known.span_id) == self.parent)
    }
}

fn nodes(spans: &[FinishedSpan], with_details: bool) -> Vec<Node<'_>> {
    let node = |span| if with_details { node(span) } else { bare_node(span) };
    spans.iter().map(node).collect()
}

fn bare_node(span: &FinishedSpan) -> Node<'_> {
    let mut head = kind(span.kind);
    match &span.status {
        Status::Error(text) if !text.is_empty() => head = format!("{head} error: {}", text.escape_debug()),
        Status::Unset if span.outcome == Outcome::Ok => {}
        _ => head = format!("{head} {}", span.outcome.as_str()),
    }
    Node {
        name: &span.name,
        span_id: span.span_id,
        parent: span.parent_span_id,
        #[cfg(has_otlp)]
        times: Times { trace_id: span.trace_id, start: span.start_unix_nanos, nanos: span.duration.as_nanos() as u64 },
        head,
        attributes: String::new(),
        events: Vec::new(),
        links: Vec::new(),
    }
}

fn node(span: &FinishedSpan) -> Node<'_> {
    Node {
        attributes: attributes(&span.attributes),
        events: span.events.iter().map(|event| format!("{}{}", event.name, attributes(&event.attributes))).collect(),
        links: span.links.iter().map(|link| (link.trace_id, link.span_id)).collect(),
        ..bare_node(span)
    }
}

fn kind(kind: Kind) -> String {
    if kind == Kind::Internal { String::new() } else { format!(" [{}]", format!("{kind:?}").to_lowercase()) }
}

fn print(nodes: &[Node<'_>]) -> String {
    let mut text = String::new();
    for root in nodes.iter().filter(|node| node.is_root(nodes)) {
        print_below(&mut text, nodes, root, 0);
    }
    text
}

fn print_below(text: &mut String, nodes: &[Node<'_>], node: &Node<'_>, depth: usize) {
    let indent = "  ".repeat(depth);
    let _ = write!(text, "{indent}{}{}{}", node.name, node.head, node.attributes);
    for event in &node.events {
        let _ = write!(text, "\n{indent}  - {event}");
    }
    for link in &node.links {
        let _ = write!(text, "\n{indent}  ~ {}", target(nodes, *link));
    }
    text.push('\n');
    for child in nodes.iter().filter(|child| child.parent == Some(node.span_id)) {
        print_below(text, nodes, child, depth + 1);
    }
}

/// Returns the text ` key=value` for each attribute.
pub(crate) fn attributes(attributes: &[Attribute]) -> String {
    let mut text = String::new();
    attributes.iter().for_each(|attribute| push_value(&mut text, &attribute.key, &attribute.value));
    text
}

fn push_value(text: &mut String, name: &str, value: &OwnedValue) {
    match value {
        OwnedValue::Str(value) => push(text, name, quoted(value, &[' ', '\n', '"'])),
        OwnedValue::StrArray(texts) => push_list(text, name, texts.iter().map(|text| quoted(text, IN_LISTS))),
        OwnedValue::I64Array(numbers) => push_list(text, name, numbers),
        OwnedValue::F64Array(numbers) => push_list(text, name, numbers),
        OwnedValue::BoolArray(flags) => push_list(text, name, flags),
        value => push(text, name, value),
    }
}

/// The characters that separate or end the texts of a list.
const IN_LISTS: &[char] = &[' ', '\n', '"', ',', ']'];

/// Returns the text, in quotes if it is empty or contains one of these characters.
fn quoted<'a>(text: &'a str, unless: &[char]) -> Cow<'a, str> {
    if text.contains(unless) || text.is_empty() { format!("{text:?}").into() } else { text.into() }
}

fn push_list(text: &mut String, name: &str, elements: impl IntoIterator<Item = impl Display>) {
    let elements: Vec<String> = elements.into_iter().map(|element| element.to_string()).collect();
    push(text, name, format_args!("[{}]", elements.join(", ")));
}

fn push(text: &mut String, name: &str, value: impl Display) {
    let _ = write!(text, " {name}={value}");
}

fn target(nodes: &[Node<'_>], (trace_id, span_id): (TraceId, SpanId)) -> String {
    match nodes.iter().find(|node| node.span_id == span_id) {
        Some(node) => node.name.to_owned(),
        None => format!("{trace_id}-{span_id}"),
    }
}

/// Removes all empty lines, and the indentation that the other lines share.
pub(crate) fn dedent(text: &str) -> String {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let shared = lines.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    lines.iter().map(|line| format!("{}\n", line[shared..].trim_end())).collect()
}

/// Returns both texts as one, and marks each line that is in only one of them.
pub(crate) fn difference(expected: &str, actual: &str) -> String {
    let marked = |text: &str, other: &str, mark: char| -> String {
        text.lines()
            .map(|line| format!("{} {line}\n", if other.lines().any(|known| known == line) { ' ' } else { mark }))
            .collect()
    };
    format!("expected:\n{}captured:\n{}", marked(expected, actual, '-'), marked(actual, expected, '+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dedents_and_marks_differences() {
        assert_eq!(dedent("\n    A\n      B  \n    C\n  "), "A\n  B\nC\n");
        assert_eq!(difference("A\nB\n", "A\nC\n"), "expected:\n  A\n- B\ncaptured:\n  A\n+ C\n");
    }
}
