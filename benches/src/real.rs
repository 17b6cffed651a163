//! Third-party crates, with an attribute on every function with a body. Their sources come from cargo's registry.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// A crate in cargo's registry.
pub struct Crate {
    pub name: &'static str,
    /// The rest of its manifest, without test dependencies.
    manifest: &'static str,
}

pub const CRATES: [&Crate; 2] = [
    &Crate { name: "bytes", manifest: "[features]\ndefault = [\"std\"]\nstd = []\nextra-platforms = []\nserde = []\n" },
    &Crate {
        name: "regex-automata",
        manifest: "[features]\ndefault = [\"std\", \"syntax\", \"meta\", \"nfa\", \"dfa\", \"hybrid\", \"unicode\"]\n\
                   std = [\"regex-syntax/std\", \"alloc\"]\nalloc = []\nsyntax = []\nmeta = [\"syntax\", \"nfa-pikevm\"]\n\
                   nfa = [\"nfa-thompson\", \"nfa-pikevm\", \"nfa-backtrack\"]\nnfa-thompson = [\"alloc\"]\n\
                   nfa-pikevm = [\"nfa-thompson\"]\nnfa-backtrack = [\"nfa-thompson\"]\n\
                   dfa = [\"dfa-build\", \"dfa-search\", \"dfa-onepass\"]\ndfa-build = [\"nfa-thompson\", \"dfa-search\"]\n\
                   dfa-search = []\ndfa-onepass = [\"nfa-thompson\"]\nhybrid = [\"alloc\", \"nfa-thompson\"]\nunicode = []\n\
                   unicode-word-boundary = []\nlogging = []\ninternal-instrument = []\ninternal-instrument-pikevm = []\n\
                   perf-inline = []\nperf-literal-substring = []\nperf-literal-multisubstring = []\n",
    },
];

/// Copies a crate to a folder and annotates it for a library. Returns the number of functions; `None` if the sources
/// are missing.
pub fn write(folder: &Path, krate: &Crate, library: &str, dependency: String) -> Option<(PathBuf, usize)> {
    let source = in_registry(krate.name)?;
    let folder = folder.join(krate.name);
    let _ = fs::remove_dir_all(&folder);
    let mut functions = 0;
    copy(&source.join("src"), &folder.join("src"), &mut |text| annotated(text, library, &mut functions));
    let syntax =
        if krate.name == "bytes" { "" } else { "regex-syntax = { version = \"0.8\", default-features = false }\n" };
    let manifest = format!(
        "[package]\nname = \"{}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n{dependency}\n{syntax}{}",
        krate.name, krate.manifest
    );
    fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
    Some((folder, functions))
}

/// Returns the folder of a crate's sources in cargo's registry, in the version that the benches use.
fn in_registry(name: &str) -> Option<PathBuf> {
    let lock = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock")).ok()?;
    let folder = format!("{name}-{}", version(&lock, name)?);
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
    let registries = fs::read_dir(home.join("registry/src")).ok()?;
    registries.flatten().map(|registry| registry.path().join(&folder)).find(|path| path.exists())
}

/// Returns the version of a package in a lock file.
fn version<'l>(lock: &'l str, name: &str) -> Option<&'l str> {
    let (_, package) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    package.split('"').next()
}

fn copy(from: &Path, to: &Path, change: &mut impl FnMut(&str) -> String) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to, change);
        } else if from.extension().is_some_and(|extension| extension == "rs") {
            fs::write(to, change(&fs::read_to_string(from).expect("a source file"))).expect("a source file");
        }
    }
}

/// Returns the source with an attribute above each function with a body. Functions in macros, `const` functions and
/// those with `#[track_caller]` are left unchanged.
fn annotated(source: &str, library: &str, functions: &mut usize) -> String {
    let (mut text, mut macro_indent, mut above) = (String::new(), None, String::new());
    let mut rest = source;
    while let Some(line) = rest.split_inclusive('\n').next() {
        let (trimmed, indent) = (line.trim_start(), line.len() - line.trim_start().len());
        match macro_indent {
            Some(outer) if indent == outer && trimmed.starts_with('}') => macro_indent = None,
            None if trimmed.starts_with("macro_rules!") => macro_indent = Some(indent),
            None if is_function(trimmed) && has_body(rest) && !above.contains("track_caller") => {
                let _ = match library {
                    "tracecast" => writeln!(text, "#[::tracecast::tc_span(\"Bench/F{functions}\")]"),
                    "fastrace" => writeln!(text, "#[::fastrace::trace(name = \"Bench/F{functions}\")]"),
                    _ => Ok(()),
                };
                *functions += 1;
            }
            _ => {}
        }
        above = if trimmed.starts_with('#') { above + trimmed } else { String::new() };
        text += line;
        rest = &rest[line.len()..];
    }
    text
}

/// Whether a function that may have a span begins on this line.
fn is_function(line: &str) -> bool {
    let words =
        line.split(' ').skip_while(|word| word.starts_with("pub") || word.starts_with("crate)") || *word == "unsafe");
    words.into_iter().next() == Some("fn")
}

/// Whether the first function in the text has a body: its signature ends in a brace.
fn has_body(text: &str) -> bool {
    let mut depth = 0_i32;
    for c in text.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '{' if depth == 0 => return true,
            ';' if depth == 0 => return false,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_lock_file() {
        let lock = "[[package]]\nname = \"bytes-utils\"\nversion = \"0.1.9\"\n\n[[package]]\nname = \"bytes\"\nversion = \"1.12.1\"\n";
        assert_eq!(version(lock, "bytes"), Some("1.12.1"));
        assert_eq!(version(lock, "http"), None);
    }

    #[test]
    fn functions_with_a_body_are_annotated() {
        let source = "macro_rules! a {\n    () => {\n        fn m() {}\n    };\n}\npub fn a(x: [u8; 2]) {\n}\nfn b();\n#[track_caller]\n\
                      fn c() {}\nconst fn d() {}\n    pub(crate) unsafe fn e() {}\n";
        let mut functions = 0;
        let text = annotated(source, "tracecast", &mut functions);
        assert_eq!(functions, 2, "{text}");
        assert!(text.contains("F0\")]\npub fn a(") && text.contains("F1\")]\n    pub(crate) unsafe fn e("), "{text}");
        assert_eq!(annotated(source, "plain", &mut 0), source);
    }
}
