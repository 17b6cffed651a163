//! Fuzz targets of configuration files: the YAML reader, the variables in it, and a whole file.

use std::cell::Cell;

use super::problem::Problem;
use super::yaml::{self, Kind, Node};
use super::{ConfigError, sources};
use crate::base::fuzz::{Random, assert_linear, mutated, run, within};

/// The limits of the reader.
const DEPTH: usize = 64;
const NODES: usize = 100_000;
/// The bytes that the reader may allocate: for each byte of the document, and for aliases in a document of any size.
const BYTES_PER_BYTE: usize = 2_000;
const EXPANDED_BYTES: usize = 64 << 20;

const SECRET: &str = "hunter2";

fn lookup(name: &str) -> Option<String> {
    let value = match name {
        "A" | "LONG_NAME_1" => SECRET,
        "EMPTY" => "",
        "EVIL" => "x\ny: [z, &a *a",
        "REF" => "${A}",
        _ => return None,
    };
    Some(value.to_owned())
}

const DOCUMENTS: [&[u8]; 8] = [
    b"a: 1\nb: ['x', y, ~]\nc:\n",
    b"a: &x {b: 1, c: 2}\nd: {<<: *x, b: 3}\ne: [*x, *x]\n",
    b"- ${B:-default}\n- \"${EMPTY}\"\n- ${env:A}/x\n- $$\n- 'a$b'\n",
    b"? key\n: value\n? \"\\u00e9\\x41\\n\"\n: !!str 5\n",
    b"text: |\n  two\n  lines\nfolded: >-\n  one\n  line\n# comment\n",
    b"%YAML 1.2\n---\n[a, [b, {c: d}], !tag e]\n...\n",
    b"file_format: \"1.0\"\nresource:\n  attributes:\n    - {name: service.name, value: store}\n    - {name: n, value: 5, type: int}\n\
      propagator: {composite: [{tracecontext: }, {baggage: }]}\n\
      tracer_provider:\n  sampler: {parent_based: {root: {trace_id_ratio_based: {ratio: 0.5}}}}\n\
      \x20 processors: [{batch: {exporter: {otlp_http: {endpoint: '${E:-http://localhost:4318}/v1/traces', headers: [{name: k, value: '${A}'}]}}}}]\n",
    b"file_format: \"1.0\"\nmeter_provider:\n  readers: [{periodic: {interval: 1000, exporter: {otlp_grpc: {endpoint: 'http://localhost:4317', timeout: ${A}}}}}]\n\
      \x20 views: [{selector: {instrument_name: 'tc_*'}, stream: {aggregation: {drop: }}}]\n\
      logger_provider:\n  processors: [{batch: {exporter: {console: }}}]\nattribute_limits: {attribute_count_limit: 10}\n",
];
const WORDS: [&[u8]; 30] = [
    b"[",
    b"]",
    b"{",
    b"}",
    b": ",
    b"- ",
    b"? ",
    b", ",
    b"\n",
    b"\n  ",
    b"&x ",
    b"*x",
    b"<<: ",
    b"~",
    b"''",
    b"\"",
    b"'",
    b"!!str ",
    b"|\n",
    b"--- ",
    b"#",
    b"${A}",
    b"${",
    b"}",
    b"$$",
    b":-",
    b"1e999",
    b"-1",
    b"\t",
    b"\xc3\xa9",
];

#[test]
fn yaml_reader() {
    let make = |random: &mut Random| match random.below(4) {
        0 => mutated(random, &DOCUMENTS, &WORDS),
        1 => {
            let grown = document(random);
            mutated(random, &[&grown, DOCUMENTS[0]], &WORDS)
        }
        _ => document(random),
    };
    run("yaml reader", &DOCUMENTS, make, |input| {
        let text = String::from_utf8_lossy(input);
        let allowed = EXPANDED_BYTES + text.len() * BYTES_PER_BYTE;
        match within(allowed, || yaml::parse(&text, &lookup)) {
            Ok(root) => {
                check_tree(&root);
                true
            }
            Err(problem) => {
                check_problem(&problem, &text);
                false
            }
        }
    });
}

/// Asserts that a tree is within the limits, and that it reads back the same after it is printed as YAML.
fn check_tree(root: &Node) {
    let (depth, nodes) = extent(root);
    assert!(depth <= DEPTH + 1, "{depth} levels");
    assert!(nodes <= NODES, "{nodes} values");
    let mut printed = String::new();
    print(root, &mut printed);
    let again = yaml::parse(&printed, &|_| None).unwrap_or_else(|problem| panic!("{problem} in {printed}"));
    assert!(is_same(root, &again), "{printed}");
}

/// Asserts that an error names a line of the document and is at most 500 bytes longer than it.
fn check_problem(problem: &Problem, text: &str) {
    let lines = text.split(['\n', '\r']).count();
    assert!(problem.line.is_some_and(|line| (1..=lines + 1).contains(&line)), "{problem}: {lines} lines");
    let printed = problem.to_string();
    assert!(printed.len() <= text.len() + 500, "{printed}");
    assert!(!printed.contains(SECRET) || text.contains(SECRET), "{printed}");
}

/// Returns the kind of a value.
fn kind(node: &Node) -> &Kind {
    &node.kind
}

/// Returns the number of levels and of values of a tree.
fn extent(node: &Node) -> (usize, usize) {
    let join = |(depth, nodes): (usize, usize), child: &Node| {
        let (below, more) = extent(child);
        (depth.max(below + 1), nodes + more)
    };
    match kind(node) {
        Kind::Null | Kind::Scalar(_) => (1, 1),
        Kind::List(items) => items.iter().fold((1, 1), join),
        Kind::Map(entries) => entries.iter().map(|(_, child)| child).fold((1, 1), join),
    }
}

fn is_same(one: &Node, other: &Node) -> bool {
    match (kind(one), kind(other)) {
        (Kind::Null, Kind::Null) => true,
        (Kind::Scalar(one), Kind::Scalar(other)) => one.as_str() == other.as_str(),
        (Kind::List(one), Kind::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Kind::Map(one), Kind::Map(other)) => {
            let same =
                |((key, one), (name, other)): (&(String, Node), &(String, Node))| key == name && is_same(one, other);
            one.len() == other.len() && one.iter().zip(other).all(same)
        }
        _ => false,
    }
}

/// Prints a tree as YAML. All strings are quoted, so no rules of plain ones apply.
fn print(node: &Node, out: &mut String) {
    match kind(node) {
        Kind::Null => out.push('~'),
        Kind::Scalar(text) => quote(&text.replace('$', "$$"), out),
        Kind::List(items) => {
            out.push('[');
            for item in items {
                print(item, out);
                out.push_str(", ");
            }
            out.push(']');
        }
        Kind::Map(entries) => {
            out.push('{');
            for (key, value) in entries {
                // A long key requires the explicit form, `? key : value`.
                out.push_str("? ");
                quote(key, out);
                out.push_str(" : ");
                print(value, out);
                out.push_str(", ");
            }
            out.push('}');
        }
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            ' '..='~' => out.push(character),
            _ => out.push_str(&format!("\\U{:08x}", u32::from(character))),
        }
    }
    out.push('"');
}

/// Makes a random document from the grammar.
fn document(random: &mut Random) -> Vec<u8> {
    let mut document = Document { text: String::new(), anchors: 0 };
    if random.once_in(200) {
        document.hostile(random);
    } else if random.once_in(4) {
        document.value(random, 0);
    } else {
        for at in 0..1 + random.below(5) {
            document.text.push_str(&format!("key{at}: "));
            document.value(random, 1);
            document.text.push('\n');
        }
    }
    document.text.into_bytes()
}

struct Document {
    text: String,
    /// The number of complete anchors, which aliases may name.
    anchors: usize,
}

impl Document {
    fn value(&mut self, random: &mut Random, depth: usize) {
        let is_deep = depth > 5 && !random.once_in(8);
        match random.below(if is_deep { 5 } else { 10 }) {
            0 if self.anchors > 0 => self.text.push_str(&format!("*a{}", random.below(self.anchors))),
            0..=4 => self.scalar(random),
            5..=6 => self.list(random, depth),
            7..=8 => self.map(random, depth),
            _ => self.anchored(random, depth),
        }
    }

    fn anchored(&mut self, random: &mut Random, depth: usize) {
        // The anchor is counted after the anchors inside its value, but its name precedes the value in the text.
        let before = self.anchors;
        let mut inside = Document { text: String::new(), anchors: before };
        inside.value(random, depth + 1);
        let Document { text, anchors } = inside;
        let is_alias = text.starts_with('*');
        let name = if is_alias { String::new() } else { format!("&a{anchors} ") };
        self.text.push_str(&format!("{name}{text}"));
        self.anchors = anchors + usize::from(!is_alias);
    }

    fn list(&mut self, random: &mut Random, depth: usize) {
        self.text.push('[');
        for _ in 0..random.below(4) {
            self.value(random, depth + 1);
            self.text.push_str(" , ");
        }
        self.text.push(']');
    }

    fn map(&mut self, random: &mut Random, depth: usize) {
        self.text.push('{');
        if self.anchors > 0 && random.once_in(3) {
            self.text.push_str(&format!("<<: *a{} , ", random.below(self.anchors)));
        }
        for at in 0..random.below(4) {
            self.text.push_str(&format!("{}{at}: ", random.pick(&["k", "'q'", "\"${A}\"", "é"])));
            self.value(random, depth + 1);
            self.text.push_str(" , ");
        }
        self.text.push('}');
    }

    fn scalar(&mut self, random: &mut Random) {
        const SCALARS: [&str; 16] = [
            "x",
            "''",
            "~",
            "null",
            "5",
            "-1.5e3",
            "true",
            "'it''s'",
            "\"\\t\\u00e9\\\"\"",
            "${A}",
            "a-${B:-x y}-$$",
            "'${EVIL}'",
            "\"${EMPTY}\"",
            "!!str 5",
            "\"${REF} ${env:LONG_NAME_1}\"",
            "a b",
        ];
        self.text.push_str(random.pick(&SCALARS));
    }

    /// Creates a small document that is large or deep once its aliases are expanded.
    fn hostile(&mut self, random: &mut Random) {
        let large = "x".repeat(1 << random.below(15));
        let many = 1 << random.below(13);
        match random.below(5) {
            // One large string, repeated.
            0 => self.text = format!("a: &a {large}\nb: [{}]\n", "*a, ".repeat(many)),
            // Each level has ten aliases of the one before.
            1 => {
                self.text = format!("- &a0 [{large}]\n");
                for at in 1..2 + random.below(10) {
                    self.text.push_str(&format!("- &a{at} [{}]\n", format!("*a{}, ", at - 1).repeat(10)));
                }
            }
            // Each line is a level deeper.
            2 => {
                self.text = "- &a0 [x]\n".to_owned();
                for at in 1..many {
                    self.text.push_str(&format!("- &a{at} [*a{}]\n", at - 1));
                }
            }
            // Merged maps in a chain.
            3 => {
                self.text = format!("a0: &a0 {{k: {large}}}\n");
                for at in 1..many {
                    self.text.push_str(&format!("a{at}: &a{at} {{<<: *a{}, k{at}: *a{}}}\n", at - 1, at - 1));
                }
            }
            _ => self.text = "[".repeat(many) + &"]".repeat(many),
        }
    }
}

/// References, their values, and whether the value is hidden.
const REFERENCES: [(&str, &str, bool); 12] = [
    ("${A}", SECRET, true),
    ("${env:A}", SECRET, true),
    ("${A:-default}", SECRET, true),
    ("${B:-default}", "default", false),
    ("${B:-x:-y ${}", "x:-y ${", false),
    ("${B}", "", false),
    ("${EMPTY:-e}", "e", false),
    ("${env:EMPTY}", "", false),
    ("${REF}", "${A}", true),
    ("${EVIL}", "x\ny: [z, &a *a", true),
    ("$$", "$", false),
    ("${LONG_NAME_1}", SECRET, true),
];

#[test]
fn configuration_substitution() {
    let expected = Cell::new(None);
    let seeds: [&[u8]; 6] = [b"${A}", b"$", b"$$${A}", b"${B", b"${1}", b"a$b${B:-c}$"];
    let make = |random: &mut Random| {
        if random.once_in(2) {
            expected.set(None);
            let references = REFERENCES.map(|(text, _, _)| text.as_bytes());
            return mutated(random, &[&seeds[..], &references].concat(), &WORDS);
        }
        let (mut text, mut value, mut hidden) = (String::new(), String::new(), false);
        for _ in 0..random.below(8) {
            // A piece with `$` would become part of the reference after it.
            let plain = random.pick(&["", "a", "}", "{", ":-", "é", "a b", "\\", "\"", "\n"]);
            let (reference, becomes, is_hidden) = random.pick(&REFERENCES);
            text.extend([plain, reference]);
            value.extend([plain, becomes]);
            hidden |= is_hidden;
        }
        expected.set(Some((value, hidden)));
        text.into_bytes()
    };
    run("configuration substitution", &seeds, make, |input| {
        let text = String::from_utf8_lossy(input);
        let found = substituted(&text);
        if let Some(expected) = expected.take() {
            assert_eq!(found, Some(expected));
        }
        found.is_some()
    });
}

/// Substitutes variables in a text; also returns whether the result is hidden. The text is quoted, so that it is one
/// value.
fn substituted(text: &str) -> Option<(String, bool)> {
    let mut quoted = String::new();
    quote(text, &mut quoted);
    let (asked, given) = (Cell::new(0), Cell::new(0));
    let counted = |name: &str| {
        assert!(!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'), "{name}");
        asked.set(asked.get() + 1);
        let value = lookup(name);
        given.set(given.get() + value.as_ref().map_or(0, String::len));
        value
    };
    let parsed = within(100_000 + 100 * quoted.len(), || yaml::parse(&quoted, &counted));
    assert!(asked.get() <= text.matches("${").count(), "{} variables", asked.get());
    let node = match parsed {
        Ok(node) => node,
        Err(problem) => {
            assert_eq!(problem.line, Some(1));
            return None;
        }
    };
    let Kind::Scalar(value) = kind(&node) else { panic!("{quoted} is a single value") };
    assert!(value.len() <= text.len() + given.get(), "{value}");
    assert_eq!(value.is_hidden(), given.get() > 0);
    Some((value.as_str().to_owned(), value.is_hidden()))
}

#[test]
fn configuration_file() {
    let make = |random: &mut Random| {
        let mut text = mutated(random, &DOCUMENTS[6..], &WORDS);
        if random.once_in(2) {
            let key = random.pick(&["\ndistribution: ", "\nresource: ", "\ntracer_provider: ", "\nlog_level: "]);
            text.extend([key.as_bytes(), &document(random)].concat());
        }
        text
    };
    run("configuration file", &DOCUMENTS, make, |input| {
        let text = String::from_utf8_lossy(input);
        let parsed = within(EXPANDED_BYTES + text.len() * BYTES_PER_BYTE, || sources::yaml(&text, &lookup));
        let is_read = parsed.is_ok();
        let problems = match parsed {
            Ok(config) => {
                assert!(!format!("{config:?}").contains(SECRET) || text.contains(SECRET));
                config.problems
            }
            Err(ConfigError { problems }) => {
                assert!(!problems.is_empty());
                problems
            }
        };
        problems.iter().for_each(|problem| check_problem(problem, &text));
        is_read
    });
}

#[test]
fn time_grows_with_the_length() {
    let parse = |input: &[u8]| drop(yaml::parse(&String::from_utf8_lossy(input), &lookup));
    assert_linear("", |_| "- a\n".to_owned(), parse);
    assert_linear("", |_| "- {a: 'b', c: [d]}\n".to_owned(), parse);
    assert_linear("", |_| "- ${A}${B:-c}$$\n".to_owned(), parse);
    assert_linear("'", |_| "${B:-c}".to_owned(), parse);
    assert_linear("", |_| "${".to_owned(), parse);
    assert_linear("", |_| "# comment\n".to_owned(), parse);
    assert_linear("", |_| "[".to_owned(), parse);
    assert_linear("a: |\n", |_| "  line\n".to_owned(), parse);
    assert_linear("", |at| format!("- &a{at} x\n- *a{at}\n"), parse);
    assert_linear("- &a [x]\n", |_| "- *a\n".to_owned(), parse);
    assert_linear("", |at| format!("key{at}: x\n"), parse);
}
