//! A YAML document as a tree of values, with the line of each, and with values from variables marked as hidden.
//!
//! Variables are substituted in single values after the document is parsed, so a variable cannot add structure. An
//! alias shares the value of its anchor; all limits count it as if it were written out.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::problem::{Problem, Severity, Wrong};
use crate::base::secret::Masked;

/// The maximum depth of a document. Trees are walked by recursion, so the depth is limited.
const DEPTH: usize = 64;
/// The maximum number of values, including keys.
const VALUES: usize = 100_000;
/// The maximum size of the text in bytes, after substitution of variables.
const BYTES: usize = 4 << 20;

/// A value in a document. Clones share it.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) kind: Rc<Kind>,
    extent: Extent,
}

pub(super) enum Kind {
    Null,
    /// A single value; hidden if part of it came from a variable.
    Scalar(Masked<String>),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

/// The size of a value, with aliases expanded.
#[derive(Clone, Copy, Default)]
struct Extent {
    values: usize,
    bytes: usize,
    /// The number of nested lists and maps.
    depth: usize,
}

/// Reads one document.
pub(super) fn parse(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<Node, Box<Problem>> {
    let mut builder =
        Builder { lookup, open: Vec::new(), anchors: HashMap::new(), total: Extent::default(), root: None };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| not_yaml(error.marker().line(), error.info()))?;
        builder.event(event, span.start.line())?;
    }
    Ok(builder.root.unwrap_or_else(|| Node::new(1, Kind::Null)))
}

fn not_yaml(line: usize, cause: &str) -> Box<Problem> {
    problem(line, Wrong::new(format!("is not YAML: {cause}"), "one YAML document"))
}

fn problem(line: usize, wrong: Wrong) -> Box<Problem> {
    Box::new(Problem { line: Some(line), ..wrong.at_place("file", Severity::Error) })
}

fn too_large(line: usize) -> Box<Problem> {
    let accepted = format!("at most {VALUES} values and {} MiB, aliases expanded and variables included", BYTES >> 20);
    problem(line, Wrong::new("is too large", accepted))
}

fn too_deep(line: usize) -> Box<Problem> {
    problem(line, Wrong::new("is nested too deep", format!("at most {DEPTH} levels, aliases expanded")))
}

fn odd_key(line: usize) -> Box<Problem> {
    problem(line, Wrong::new("has a key that is not a string", "strings as keys"))
}

impl Node {
    fn new(line: usize, kind: Kind) -> Self {
        let extent = match &kind {
            Kind::Null => Extent { values: 1, ..Extent::default() },
            Kind::Scalar(text) => Extent { values: 1, bytes: text.len(), depth: 0 },
            Kind::List(items) => Extent::around(items.iter()),
            Kind::Map(entries) => {
                let keys = entries.iter().map(|(key, _)| key.len()).sum::<usize>();
                let within = Extent::around(entries.iter().map(|(_, node)| node));
                Extent { values: within.values + entries.len(), bytes: within.bytes + keys, ..within }
            }
        };
        Node { line, kind: Rc::new(kind), extent }
    }
}

impl Extent {
    /// Returns the size of a list or map of these values. Sums cannot overflow: each value was within the limits when
    /// it was read.
    fn around<'a>(nodes: impl Iterator<Item = &'a Node>) -> Self {
        nodes.fold(Extent { values: 1, bytes: 0, depth: 1 }, |all, Node { extent, .. }| Extent {
            values: all.values + extent.values,
            bytes: all.bytes + extent.bytes,
            depth: all.depth.max(extent.depth + 1),
        })
    }
}

/// A list or map that is still being read.
struct Open {
    line: usize,
    kind: Kind,
    anchor: usize,
    /// The key whose value is read next, and the key's line, which is shown in problems of the value.
    key: Option<(String, usize)>,
    /// The values of `<<`. Every key of the map itself overrides them, also a later one.
    merged: Vec<Node>,
}

struct Builder<'a> {
    lookup: &'a dyn Fn(&str) -> Option<String>,
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    /// The size of the document so far, including merged values that keys of the map override.
    total: Extent,
    root: Option<Node>,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, line: usize) -> Result<(), Box<Problem>> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain && tag.is_none_or(|tag| tag.suffix != "str");
                let node = self.scalar(&text, plain, line)?;
                self.count(node.extent, line)?;
                self.finished(node, anchor)
            }
            Event::SequenceStart(anchor, _) => self.opened(Kind::List(Vec::new()), anchor, line),
            Event::MappingStart(anchor, _) => self.opened(Kind::Map(Vec::new()), anchor, line),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => {
                    let anchor = open.anchor;
                    self.finished(open.close()?, anchor)
                }
                None => Ok(()),
            },
            Event::Alias(anchor) => {
                let found = self.anchors.get(&anchor).cloned();
                let node = found.ok_or_else(|| not_yaml(line, "an alias without its anchor"))?;
                self.count(node.extent, line)?;
                self.finished(node, 0)
            }
            Event::DocumentStart(_) if self.root.is_some() => Err(not_yaml(line, "a second document")),
            _ => Ok(()),
        }
    }

    /// Adds a value to the size of the document; fails if a limit is exceeded.
    fn count(&mut self, more: Extent, line: usize) -> Result<(), Box<Problem>> {
        self.total.values += more.values;
        self.total.bytes += more.bytes;
        if self.total.values > VALUES || self.total.bytes > BYTES {
            return Err(too_large(line));
        }
        if self.open.len() + more.depth > DEPTH {
            return Err(too_deep(line));
        }
        Ok(())
    }

    fn opened(&mut self, kind: Kind, anchor: usize, line: usize) -> Result<(), Box<Problem>> {
        self.count(Extent { values: 1, bytes: 0, depth: 1 }, line)?;
        if self.expects_key() {
            return Err(odd_key(line));
        }
        self.open.push(Open { line, kind, anchor, key: None, merged: Vec::new() });
        Ok(())
    }

    fn expects_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { kind: Kind::Map(_), key: None, .. }))
    }

    fn scalar(&self, text: &str, plain: bool, line: usize) -> Result<Node, Box<Problem>> {
        // Keys are never substituted.
        let is_key = self.expects_key();
        let text = if is_key { text.to_owned().into() } else { substituted(text, self.lookup, line)? };
        if plain && !is_key && matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL") {
            return Ok(Node::new(line, Kind::Null));
        }
        Ok(Node::new(line, Kind::Scalar(text)))
    }

    /// Handles a complete value: adds it to the list or map that contains it, or makes it the next key of the map or
    /// the root.
    fn finished(&mut self, node: Node, anchor: usize) -> Result<(), Box<Problem>> {
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match (&mut open.kind, open.key.take()) {
            (Kind::List(items), _) => items.push(node),
            (Kind::Map(_), Some((key, _))) if key == "<<" => open.merged.push(node),
            (Kind::Map(entries), Some((key, line))) => entries.push((key, Node { line, ..node })),
            (_, _) => match &*node.kind {
                Kind::Scalar(text) => open.key = Some((text.as_str().to_owned(), node.line)),
                _ => return Err(odd_key(node.line)),
            },
        }
        Ok(())
    }
}

impl Open {
    /// Completes the list or map. Keys must be unique; merged maps add the keys that are missing.
    fn close(self) -> Result<Node, Box<Problem>> {
        let Open { line, mut kind, merged, .. } = self;
        if let Kind::Map(entries) = &mut kind {
            let mut keys = HashSet::with_capacity(entries.len());
            for (key, node) in &*entries {
                if !keys.insert(key.clone()) {
                    let wrong = Wrong::with_help("is listed twice in the same map", "remove one");
                    return Err(Box::new(Problem {
                        line: Some(node.line),
                        ..wrong.at_place(key.clone(), Severity::Error)
                    }));
                }
            }
            merged.iter().try_for_each(|other| merge(entries, &mut keys, other))?;
        }
        Ok(Node::new(line, kind))
    }
}

/// Merges another map, or a list of maps: `<<: *anchor`.
fn merge(entries: &mut Vec<(String, Node)>, keys: &mut HashSet<String>, other: &Node) -> Result<(), Box<Problem>> {
    match &*other.kind {
        Kind::Map(others) => {
            entries.extend(others.iter().filter(|(key, _)| keys.insert(key.clone())).cloned());
            Ok(())
        }
        Kind::List(maps) => maps.iter().try_for_each(|map| merge(entries, keys, map)),
        _ => Err(problem(other.line, Wrong::new("merges a value that is not a map", "`<<: *anchor` of a map"))),
    }
}

/// Substitutes variables for `${NAME}`, `${env:NAME}` and `${NAME:-default}`, and `$` for `$$`.
fn substituted(
    text: &str,
    lookup: &dyn Fn(&str) -> Option<String>,
    line: usize,
) -> Result<Masked<String>, Box<Problem>> {
    let (mut result, mut hidden, mut rest) = (String::new(), false, text);
    while let Some(at) = rest.find('$') {
        if result.len() > BYTES {
            return Err(too_large(line));
        }
        result.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            result.push('$');
            rest = after;
        } else if let Some(reference) = rest.strip_prefix('{') {
            let wrong = || {
                let accepted = "${NAME}, ${env:NAME} or ${NAME:-default}, and $$ for a single $";
                problem(line, Wrong::new("has an invalid reference to a variable", accepted))
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

/// Returns the name and the default inside `${…}`; `None` if they are invalid.
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
        match &*node.kind {
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
        assert!(error.starts_with(expected), "{text:.200}: {error}");
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
        let text = |document| match &*read(document).unwrap().kind {
            Kind::Scalar(text) => text.clone().into_inner(),
            _ => panic!("{document}"),
        };
        assert_eq!(text("pre-${A}-${B:-x:-y}"), "pre-hunter2-x:-y");
        assert_eq!(text("$$${A}"), "$hunter2");
        assert_eq!(text("${REF}"), "${A}", "the value of a variable is not substituted again");
        assert_eq!(text("${EVIL}"), "x\ny: z", "a variable adds no structure");
    }

    #[test]
    fn what_cannot_be_read_has_its_line() {
        check_error("a: 1\nb: ]", "line 2: file: is not YAML: ");
        check_error("a: 1\na: 2", "line 2: a: is listed twice in the same map; remove one");
        check_error("a: 1\n---\nb: 2", "line 2: file: is not YAML: a second document");
        check_error("a:\n  - ${1}", "line 2: file: has an invalid reference to a variable");
        check_error("a: ${B", "line 1: file: has an invalid reference to a variable");
        check_error("? [a]\n: b", "line 1: file: has a key that is not a string");
        check_error("<<: 5", "line 1: file: merges a value that is not a map");
        check_error("a: 1\nb: {c: 2, d: 3,\n  c: 4}", "line 3: c: is listed twice in the same map");
    }

    const TOO_LARGE: &str =
        "file: is too large; expected at most 100000 values and 4 MiB, aliases expanded and variables included";
    const TOO_DEEP: &str = "file: is nested too deep; expected at most 64 levels, aliases expanded";

    #[test]
    fn aliases_that_stand_for_millions_of_values_are_refused() {
        let mut document = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let below = format!("*a{}, ", level - 1).repeat(10);
            document.push_str(&format!("a{level}: &a{level} [{below}]\n"));
        }
        check_error(&document, &format!("line 5: {TOO_LARGE}"));
    }

    #[test]
    fn the_bytes_of_aliases_count() {
        let long = |bytes: usize, aliases: usize| format!("- &a {}\n{}", "x".repeat(bytes), "- *a\n".repeat(aliases));
        assert!(read(&long(1 << 20, 3)).is_ok());
        check_error(&long(1 << 20, 4), &format!("line 5: {TOO_LARGE}"));
        check_error(&long(60_000, 90_000), &format!("line 70: {TOO_LARGE}"));
        let keys = format!("- &a {{{}: 1}}\n{}", "k".repeat(1000), "- <<: *a\n".repeat(9000));
        check_error(&keys, &format!("line 4182: {TOO_LARGE}"));
    }

    #[test]
    fn the_bytes_of_variables_count() {
        let long = |name: &str| (name == "L").then(|| "x".repeat(100_000));
        let error = |text: &str| parse(text, &long).err().unwrap().to_string();
        assert_eq!(error(&format!("a: 1\nb: {}", "${L}".repeat(90_000))), format!("line 2: {TOO_LARGE}"));
        assert_eq!(error(&"- ${L}\n".repeat(90_000)), format!("line 42: {TOO_LARGE}"));
    }

    #[test]
    fn the_depth_counts_with_aliases_expanded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&nested(64)).is_ok());
        check_error(&nested(65), &format!("line 1: {TOO_DEEP}"));
        // Each anchor is a level deeper than the one before, and the outer list adds one.
        let chain = |anchors: usize| {
            let links = (1..anchors).map(|at| format!("- &a{at} [*a{}]\n", at - 1)).collect::<String>();
            format!("- &a0 []\n{links}")
        };
        assert!(read(&chain(63)).is_ok());
        check_error(&chain(64), &format!("line 64: {TOO_DEEP}"));
        check_error(&chain(50_000), &format!("line 64: {TOO_DEEP}"));
        check_error(
            &format!("- &a {}\n- {}*a{}", nested(40), "[".repeat(24), "]".repeat(24)),
            "line 2: file: is nested",
        );
    }

    #[test]
    fn merged_maps_are_no_level_deeper() {
        let links = (1..200).map(|at| format!("- &a{at} {{<<: *a{}, k{at}: v}}\n", at - 1)).collect::<String>();
        assert!(read(&format!("- &a0 {{k: v}}\n{links}")).is_ok());
    }

    #[test]
    fn anchors_inside_of_anchors_take_no_memory() {
        let open = (0..60).map(|at| format!("&a{at} [")).collect::<String>();
        check_error(&format!("{open}{}{}\n---\n", "x,".repeat(50_000), "]".repeat(60)), "line 2: file: is not YAML");
    }

    #[test]
    fn many_keys_are_compared_quickly() {
        let keys = |range: std::ops::Range<u32>| range.map(|at| format!("k{at}: \n")).collect::<String>();
        assert!(read(&keys(0..49_000)).is_ok());
        check_error(&(keys(0..45_000) + "k7: 1\n"), "line 45001: k7: is listed twice");
    }
}
