//! A YAML document as a tree that knows its lines, and which of its texts came from variables.
//!
//! Variables are put into single values after the document was parsed, so that none can add structure to it.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::problem::{Problem, Severity, Wrong};
use crate::secret::Masked;

/// Deeper documents are refused, because trees are walked by recursion.
const DEPTH: usize = 64;
/// Larger ones too, because a few aliases can stand for millions of values.
const NODES: usize = 100_000;

/// A value in a document.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) kind: Kind,
}

#[derive(Clone)]
pub(super) enum Kind {
    Null,
    /// A single value; hidden if some of it came from a variable.
    Scalar(Masked<String>),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

/// Reads one document.
pub(super) fn parse(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<Node, Box<Problem>> {
    let mut builder = Builder { lookup, open: Vec::new(), anchors: HashMap::new(), nodes: 0, root: None };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| not_yaml(error.marker().line(), error.info()))?;
        builder.event(event, span.start.line())?;
    }
    Ok(builder.root.unwrap_or(Node { line: 1, kind: Kind::Null }))
}

fn not_yaml(line: usize, cause: &str) -> Box<Problem> {
    problem(line, Wrong::new(format!("is not YAML: {cause}"), "one YAML document"))
}

fn problem(line: usize, wrong: Wrong) -> Box<Problem> {
    Box::new(Problem { line: Some(line), ..wrong.at_place("file", Severity::Error) })
}

/// A list or a map whose end was not yet seen.
struct Open {
    node: Node,
    anchor: usize,
    /// The key that waits for its value, and its line: that is where one looks for the value.
    key: Option<(String, usize)>,
    /// What `<<` names; it gives way to every key of the map itself, those that follow too.
    merged: Vec<Node>,
}

struct Builder<'a> {
    lookup: &'a dyn Fn(&str) -> Option<String>,
    open: Vec<Open>,
    anchors: HashMap<usize, (Node, usize)>,
    nodes: usize,
    root: Option<Node>,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, line: usize) -> Result<(), Box<Problem>> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain && tag.is_none_or(|tag| tag.suffix != "str");
                let node = self.scalar(&text, plain, line)?;
                self.finished(node, anchor)
            }
            Event::SequenceStart(anchor, _) => self.opened(Kind::List(Vec::new()), anchor, line),
            Event::MappingStart(anchor, _) => self.opened(Kind::Map(Vec::new()), anchor, line),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => {
                    let (mut node, anchor) = (open.node, open.anchor);
                    open.merged.into_iter().try_for_each(|other| merge(&mut node, other))?;
                    self.finished(node, anchor)
                }
                None => Ok(()),
            },
            Event::Alias(anchor) => {
                let found = self.anchors.get(&anchor).cloned();
                let (node, size) = found.ok_or_else(|| not_yaml(line, "an alias without its anchor"))?;
                self.nodes += size;
                self.finished(node, 0)
            }
            Event::DocumentStart(_) if self.root.is_some() => Err(not_yaml(line, "a second document")),
            _ => Ok(()),
        }
    }

    fn opened(&mut self, kind: Kind, anchor: usize, line: usize) -> Result<(), Box<Problem>> {
        if self.open.len() >= DEPTH {
            return Err(problem(line, Wrong::new("is nested too deep", format!("at most {DEPTH} levels"))));
        }
        if let Some(Open { node: Node { kind: Kind::Map(_), .. }, key: None, .. }) = self.open.last() {
            return Err(problem(line, Wrong::new("has a key that is not a text", "texts as keys")));
        }
        self.open.push(Open { node: Node { line, kind }, anchor, key: None, merged: Vec::new() });
        Ok(())
    }

    fn scalar(&self, text: &str, plain: bool, line: usize) -> Result<Node, Box<Problem>> {
        // Keys are never substituted.
        let is_key = matches!(self.open.last(), Some(Open { node: Node { kind: Kind::Map(_), .. }, key: None, .. }));
        let text = if is_key { text.to_owned().into() } else { substituted(text, self.lookup, line)? };
        if plain && !is_key && matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL") {
            return Ok(Node { line, kind: Kind::Null });
        }
        Ok(Node { line, kind: Kind::Scalar(text) })
    }

    /// A value is complete: it goes into what surrounds it.
    fn finished(&mut self, node: Node, anchor: usize) -> Result<(), Box<Problem>> {
        self.nodes += 1;
        if self.nodes > NODES {
            return Err(problem(
                node.line,
                Wrong::new("is too large", format!("at most {NODES} values, aliases included")),
            ));
        }
        if anchor > 0 {
            self.anchors.insert(anchor, (node.clone(), size_of(&node)));
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match (&mut open.node.kind, open.key.take()) {
            (Kind::List(items), _) => items.push(node),
            (Kind::Map(_), Some((key, _))) if key == "<<" => open.merged.push(node),
            (Kind::Map(entries), Some((key, line))) => insert(entries, key, Node { line, ..node })?,
            (_, _) => {
                let line = node.line;
                open.key = Some((key_of(node)?, line));
            }
        }
        Ok(())
    }
}

fn key_of(node: Node) -> Result<String, Box<Problem>> {
    match node.kind {
        Kind::Scalar(text) => Ok(text.into_inner()),
        _ => Err(problem(node.line, Wrong::new("has a key that is not a text", "texts as keys"))),
    }
}

/// A key may stand once.
fn insert(entries: &mut Vec<(String, Node)>, key: String, node: Node) -> Result<(), Box<Problem>> {
    if entries.iter().any(|(given, _)| *given == key) {
        let wrong = Wrong::new("stands twice in the same map", "each key once");
        return Err(Box::new(Problem { line: Some(node.line), ..wrong.at_place(key, Severity::Error) }));
    }
    entries.push((key, node));
    Ok(())
}

/// `<<: *anchor` adds the entries of another map, or of a list of maps.
fn merge(node: &mut Node, other: Node) -> Result<(), Box<Problem>> {
    match (&mut node.kind, other.kind) {
        (Kind::Map(entries), Kind::Map(others)) => {
            for (key, other) in others {
                if !entries.iter().any(|(given, _)| *given == key) {
                    entries.push((key, other));
                }
            }
            Ok(())
        }
        (_, Kind::List(maps)) => maps.into_iter().try_for_each(|map| merge(node, map)),
        _ => Err(problem(other.line, Wrong::new("merges something that is not a map", "`<<: *anchor` of a map"))),
    }
}

fn size_of(node: &Node) -> usize {
    match &node.kind {
        Kind::Null | Kind::Scalar(_) => 1,
        Kind::List(items) => 1 + items.iter().map(size_of).sum::<usize>(),
        Kind::Map(entries) => 1 + entries.iter().map(|(_, node)| size_of(node)).sum::<usize>(),
    }
}

/// Puts variables in for `${NAME}`, `${env:NAME}` and `${NAME:-default}`; `$$` stands for `$`.
fn substituted(
    text: &str,
    lookup: &dyn Fn(&str) -> Option<String>,
    line: usize,
) -> Result<Masked<String>, Box<Problem>> {
    let (mut result, mut hidden, mut rest) = (String::new(), false, text);
    while let Some(at) = rest.find('$') {
        result.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            result.push('$');
            rest = after;
        } else if let Some(reference) = rest.strip_prefix('{') {
            let wrong = || {
                let accepted = "${NAME}, ${env:NAME} or ${NAME:-default}, and $$ for a single $";
                problem(line, Wrong::new("has a reference to a variable that is not understood", accepted))
            };
            let (inside, after) = reference.split_once('}').ok_or_else(wrong)?;
            let (name, default) = reference_of(inside).ok_or_else(wrong)?;
            match lookup(name).filter(|value| !value.is_empty()) {
                Some(value) => {
                    result.push_str(&value);
                    hidden = true;
                }
                None => result.push_str(default),
            }
            rest = after;
        } else {
            result.push('$');
        }
    }
    result.push_str(rest);
    Ok(Masked::new(result, hidden))
}

/// The name and the default inside `${…}`.
fn reference_of(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix("env:").unwrap_or(text);
    let (name, default) = text.split_once(":-").unwrap_or((text, ""));
    let first = name.chars().next()?;
    let valid = (first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !default.contains('\n');
    valid.then_some((name, default))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(node: &Node) -> String {
        match &node.kind {
            Kind::Null => "~".to_owned(),
            Kind::Scalar(text) if text.is_empty() => "''".to_owned(),
            Kind::Scalar(text) => text.to_string(),
            Kind::List(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(", ")),
            Kind::Map(entries) => {
                let entries = entries.iter().map(|(key, node)| format!("{key}: {}", shown(node)));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn read(text: &str) -> Result<Node, Box<Problem>> {
        let variables = [("A", "hunter2"), ("EMPTY", ""), ("N", "5"), ("EVIL", "x\ny: z"), ("REF", "${A}")];
        parse(text, &|name| variables.iter().find(|(given, _)| *given == name).map(|(_, value)| (*value).to_owned()))
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(shown(&read(text).unwrap()), expected, "{text}");
    }

    fn check_error(text: &str, expected: &str) {
        let error = read(text).map(|node| shown(&node)).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text}: {error}");
    }

    #[test]
    fn documents_become_trees() {
        check("", "~");
        check("a: 1\nb: ['x', y, ~]\nc:", "{a: 1, b: [x, y, ~], c: ~}");
        check("a: &x {b: 1, c: 2}\nd: *x", "{a: {b: 1, c: 2}, d: {b: 1, c: 2}}");
        check("a: &x {b: 1, c: 2}\nd: {<<: *x, b: 3}", "{a: {b: 1, c: 2}, d: {b: 3, c: 2}}");
        check("[!!str , '', 'null', null, Null]", "['', '', null, ~, ~]");
    }

    #[test]
    fn variables_are_put_in_and_hidden() {
        check("${A}: ${A}", "{${A}: [secret]}");
        check("- ${B:-dflt}\n- ${B}\n- ${EMPTY:-dflt}\n- \"${EMPTY}\"\n- ${env:A}/x", "[dflt, ~, dflt, '', [secret]]");
        check("[$$, '$${A}', a$b, $$$$, 5$]", "[$, ${A}, a$b, $$, 5$]");
        let text = |document| match read(document).unwrap().kind {
            Kind::Scalar(text) => text.into_inner(),
            _ => panic!("{document}"),
        };
        assert_eq!(text("pre-${A}-${B:-x:-y}"), "pre-hunter2-x:-y");
        assert_eq!(text("$$${A}"), "$hunter2");
        assert_eq!(text("${REF}"), "${A}", "what came from a variable is not looked at again");
        assert_eq!(text("${EVIL}"), "x\ny: z", "a variable adds no structure");
    }

    #[test]
    fn what_cannot_be_read_has_its_line() {
        check_error("a: 1\nb: ]", "line 2: file: is not YAML: ");
        check_error("a: 1\na: 2", "line 2: a: stands twice in the same map; expected each key once");
        check_error("a: 1\n---\nb: 2", "line 2: file: is not YAML: a second document");
        check_error("a:\n  - ${1}", "line 2: file: has a reference to a variable that is not understood");
        check_error("a: ${B", "line 1: file: has a reference to a variable");
        check_error("? [a]\n: b", "line 1: file: has a key that is not a text");
        check_error("<<: 5", "line 1: file: merges something that is not a map");
        check_error(&"[".repeat(70), "line 1: file: is nested too deep; expected at most 64 levels");
    }

    #[test]
    fn aliases_cannot_blow_it_up() {
        let mut document = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let below = format!("*a{}, ", level - 1).repeat(10);
            document.push_str(&format!("a{level}: &a{level} [{below}]\n"));
        }
        check_error(&document, "line");
        assert!(read(&document).err().unwrap().to_string().contains("is too large"));
    }
}
