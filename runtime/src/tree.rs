//! Finished spans as indented text.

use std::fmt::Write as _;

use crate::callsite::Kind;
use crate::finished::{Attribute, FinishedSpan, Link, Outcome};
use crate::ids::SpanId;
use crate::value::OwnedValue;

/// Each span with all that is on it.
pub(crate) fn full(spans: &[FinishedSpan]) -> String {
    print(spans, &|text, span, indent| details(spans, text, span, indent))
}

fn details(spans: &[FinishedSpan], text: &mut String, span: &FinishedSpan, indent: &str) {
    attributes(text, &span.attributes);
    for event in &span.events {
        let _ = write!(text, "\n{indent}  - {}", event.name);
        attributes(text, &event.attributes);
    }
    for link in &span.links {
        let _ = write!(text, "\n{indent}  ~ {}", target(spans, link));
    }
}

#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
/// Each span with how long it took and all that is on it, and the trace of each root.
pub(crate) fn timed(spans: &[FinishedSpan]) -> String {
    let is_root = |span: &FinishedSpan| !spans.iter().any(|known| Some(known.span_id) == span.parent_span_id);
    print(spans, &|text, span, indent| {
        let _ = write!(text, " {:.2?}", span.duration);
        if is_root(span) {
            let _ = write!(text, " trace={}", span.trace_id);
        }
        details(spans, text, span, indent);
    })
}

/// Names and outcomes.
pub(crate) fn outline(spans: &[FinishedSpan]) -> String {
    print(spans, &|_, _, _| ())
}

type Details<'a> = &'a dyn Fn(&mut String, &FinishedSpan, &str);

fn print(spans: &[FinishedSpan], details: Details<'_>) -> String {
    let mut text = String::new();
    let is_known = |id: Option<SpanId>| spans.iter().any(|span| Some(span.span_id) == id);
    for root in spans.iter().filter(|span| !is_known(span.parent_span_id)) {
        print_below(&mut text, spans, root, 0, details);
    }
    text
}

fn print_below(text: &mut String, spans: &[FinishedSpan], span: &FinishedSpan, depth: usize, details: Details<'_>) {
    let indent = "  ".repeat(depth);
    let _ = write!(text, "{indent}{}", span.name);
    if span.kind != Kind::Internal {
        let _ = write!(text, " [{}]", format!("{:?}", span.kind).to_lowercase());
    }
    if span.outcome != Outcome::Ok {
        let _ = write!(text, " {}", span.outcome.as_str());
    }
    details(text, span, &indent);
    text.push('\n');
    for child in spans.iter().filter(|child| child.parent_span_id == Some(span.span_id)) {
        print_below(text, spans, child, depth + 1, details);
    }
}

fn attributes(text: &mut String, attributes: &[Attribute]) {
    for attribute in attributes {
        let _ = match &attribute.value {
            OwnedValue::Str(value) if value.contains([' ', '\n', '"']) || value.is_empty() => {
                write!(text, " {}={value:?}", attribute.key.name)
            }
            value => write!(text, " {}={value}", attribute.key.name),
        };
    }
}

fn target(spans: &[FinishedSpan], link: &Link) -> String {
    match spans.iter().find(|span| span.span_id == link.span_id) {
        Some(span) => span.name.to_string(),
        None => format!("{}-{}", link.trace_id, link.span_id),
    }
}

/// Without empty lines at both ends and without the indentation that all lines share.
pub(crate) fn dedent(text: &str) -> String {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let shared = lines.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    lines.iter().map(|line| format!("{}\n", line[shared..].trim_end())).collect()
}

/// Both texts, each line that is in one of them alone marked.
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
