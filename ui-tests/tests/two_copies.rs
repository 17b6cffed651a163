//! Two copies of Tracecast in one program: each sees its own callsites, keys and metrics, and none of the other's.
//!
//! Cargo links two copies if one comes from a registry and the other from git, whether or not their versions differ. Their
//! types may have different layouts, as those of the changed copy here have. Its version differs only because Cargo's
//! lock file cannot hold two packages of one version that both come from folders; no name of a link section carries it.
#![cfg(not(miri))]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Each copy, by the name that the program gives it, and as part of a span's name.
const COPIES: [(&str, &str); 2] = [("ours", "Ours"), ("changed", "Changed")];

#[test]
fn each_copy_sees_its_own_statics_only() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("two_copies");
    let changed = changed_copy(&workspace, folder.join("changed"), "0.1.999");
    let program = write_program(&workspace, folder.join("program"), [workspace.clone(), changed]);
    assert_eq!(run(&program), COPIES.map(printed).concat());
}

/// The text that the program prints for one copy.
fn printed((copy, name): (&str, &str)) -> String {
    format!(
        "{copy}\n{name}/Load at {copy}.rs:14 of two_copies 1.2.3\nt.{copy}\ntc_{copy}_loads_total\ntc_{copy}_total\n\
         {name}/Load t.{copy}=1\ntc_{copy}_loads_total 1\ntc_{copy}_total{{outcome=ok}} 1\n"
    )
}

/// Copies the runtime, with this version and with one field more in each type that is in a section. Its macros are ours: they write
/// the same code for either copy.
fn changed_copy(workspace: &Path, folder: PathBuf, version: &str) -> PathBuf {
    let (declared, given) = ("    /// One field more.\n    pub more: [u64; 5],\n", "            more: [7; 5],\n");
    let members = line_of(&workspace.join("Cargo.toml"), "members = ");
    let before = |added: &str, line: &'static str| (line, format!("{added}{line}"));
    let changes = [
        ("Cargo.toml", (&*members, "members = [\"runtime\"]".to_owned())),
        (
            "Cargo.toml",
            ("[workspace.package]\n", format!("[workspace.package]\nversion = \"{version}\" # instead of ")),
        ),
        ("Cargo.toml", ("path = \"macros\"", format!("path = {:?}", workspace.join("macros")))),
        // Its tests are not copied.
        ("runtime/Cargo.toml", ("[[test]]\n", "[package.metadata.test]\n".to_owned())),
        ("runtime/src/declare/callsite.rs", before(declared, "    state: AtomicU8,\n")),
        ("runtime/src/declare/callsite.rs", before(given, "            state: AtomicU8::new(")),
        ("runtime/src/declare/key.rs", before(declared, "    /// The attribute's name in OTLP.\n")),
        ("runtime/src/declare/key.rs", before(given, "            name,\n            kind,\n")),
        ("runtime/src/declare/cells/mod.rs", before(declared, "    state: AtomicI8,\n")),
        ("runtime/src/declare/cells/mod.rs", before(given, "            state: AtomicI8::new(")),
    ];
    for file in ["Cargo.toml", "runtime/Cargo.toml", "runtime/src"] {
        copy(workspace, &folder, Path::new(file), &changes);
    }
    folder
}

/// A file and, in there, a text that it contains once, and another one for it.
type Change<'a> = (&'a str, (&'a str, String));

/// Copies a file or a folder.
fn copy(from: &Path, to: &Path, file: &Path, changes: &[Change<'_>]) {
    if from.join(file).is_dir() {
        // A file that was moved since the last run must not stay beside its successor.
        for old in inside(to, file).iter().filter(|old| !from.join(old).exists()).map(|old| to.join(old)) {
            if old.is_dir() { fs::remove_dir_all(old) } else { fs::remove_file(old) }.unwrap();
        }
        return inside(from, file).iter().for_each(|file| copy(from, to, file, changes));
    }
    let mut text = fs::read_to_string(from.join(file)).unwrap();
    for (_, (old, new)) in changes.iter().filter(|(of, _)| Path::new(of) == file) {
        assert_eq!(text.matches(old).count(), 1, "`{old}` in {}", file.display());
        text = text.replace(old, new);
    }
    write(&to.join(file), &text);
}

/// What is in a folder of the workspace or of the copy: nothing if there is none.
fn inside(root: &Path, folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root.join(folder)).into_iter().flatten();
    entries.map(|entry| folder.join(entry.unwrap().file_name())).collect()
}

/// Writes a file unless it has this text: then nothing is built again for it.
fn write(file: &Path, text: &str) {
    if fs::read_to_string(file).is_ok_and(|there| there == text) {
        return;
    }
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn line_of(file: &Path, start: &str) -> String {
    let text = fs::read_to_string(file).unwrap();
    text.lines().find(|line| line.starts_with(start)).unwrap().to_owned()
}

/// A program that depends on both copies and has a module for each.
fn write_program(workspace: &Path, folder: PathBuf, copies: [PathBuf; 2]) -> PathBuf {
    let mut manifest = "[package]\nname = \"two_copies\"\nversion = \"1.2.3\"\nedition = \"2024\"\n[workspace]\n\
                        [profile.dev]\ndebug = 0\n[dependencies]\n"
        .to_owned();
    let (mut modules, mut calls) = (String::new(), String::new());
    for ((copy, name), path) in COPIES.into_iter().zip(copies) {
        let path = path.join("runtime");
        manifest += &format!("{copy} = {{ package = \"tracecast\", path = {path:?}, default-features = false }}\n");
        modules += &format!("mod {copy};\n");
        calls += &format!("    {copy}::print();\n");
        write(&folder.join(format!("src/{copy}.rs")), &MODULE.replace("COPY", copy).replace("NAME", name));
    }
    write(&folder.join("Cargo.toml"), &manifest);
    write(&folder.join("src/main.rs"), &format!("{modules}\nfn main() {{\n{calls}}}\n"));
    // The versions of the workspace, which are here already: nothing is fetched.
    fs::copy(workspace.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    folder
}

/// Prints the catalogue of one copy, without the keys and metrics that the copy itself declares, and what it records.
const MODULE: &str = r#"use ::COPY::prelude::*;

::COPY::tc_keys! {
    /// A key.
    pub id key: u64 = "t.COPY";
}

::COPY::tc_metrics! {
    /// A metric.
    static LOADS: Counter = "tc_COPY_loads_total";
}

#[tc_metric(calls = "tc_COPY_total", crate = ::COPY)]
#[tc_span("NAME/Load",
          attrs(key = 1_u64),
          crate = ::COPY)]
fn load() {
    LOADS.add(1_u64, ());
}

pub fn print() {
    let catalogue = ::COPY::catalogue();
    println!("COPY");
    for span in catalogue.spans() {
        let file = span.file.rsplit(['/', '\\']).next().unwrap_or_default();
        println!("{} at {file}:{} of {} {}", span.name, span.line, span.crate_name, span.crate_version);
    }
    catalogue.keys.iter().filter(|key| key.name.starts_with("t.")).for_each(|key| println!("{}", key.name));
    let is_here = |file: &str| file.starts_with("src");
    catalogue.metrics.iter().filter(|metric| is_here(metric.location.file())).for_each(|metric| println!("{}", metric.name));
    let captured = ::COPY::testing::capture(load);
    println!("{}\n{}", captured.tree().trim_end(), captured.metric_lines().trim_end());
}
"#;

/// Builds and runs the program, and gives the text that it printed.
fn run(program: &Path) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["run", "--quiet", "--offline", "--manifest-path"])
        .arg(program.join("Cargo.toml"))
        // Where trybuild builds: what both need is built once.
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("../tests/trybuild"))
        .output()
        .unwrap();
    let [printed, errors] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{}\n{printed}\n{errors}", output.status);
    printed
}
