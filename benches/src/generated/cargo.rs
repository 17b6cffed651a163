//! Generates crates in a temporary folder, and measures cargo's processor time for them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::source::{FASTRACE, TRACING};
use crate::cpu;

/// A cargo command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Task {
    Check,
    Build,
    /// An incremental check, after the body of one function gained or lost a line.
    Edit,
}

impl Task {
    pub fn name(self) -> &'static str {
        match self {
            Task::Check => "`cargo check`",
            Task::Build => "`cargo build --release`",
            Task::Edit => "`cargo check` after an edit, incremental",
        }
    }

    fn arguments(self) -> &'static [&'static str] {
        if self == Task::Build { &["build", "--release"] } else { &["check"] }
    }
}

/// Returns cargo's seconds of processor time for the crate itself, which is touched before.
pub fn run(folder: &Path, task: Task) -> f64 {
    try_run(folder, task.arguments(), task == Task::Edit)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
}

/// Returns the same, or the compiler's error.
pub fn try_run(folder: &Path, arguments: &[&str], incremental: bool) -> Result<f64, String> {
    let file = ["src/lib.rs", "src/main.rs"].map(|file| folder.join(file)).into_iter().find(|file| file.exists());
    let file = file.expect("a crate");
    let text = std::fs::read_to_string(&file).expect("the source file");
    std::fs::write(&file, text).expect("the source file");
    let before = cpu::of_children();
    let output = Command::new("cargo")
        .args(arguments)
        .args(["--quiet", "--offline", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", target(folder))
        .env("CARGO_INCREMENTAL", if incremental { "1" } else { "0" })
        .stdin(Stdio::null())
        .output()
        .expect("cargo starts");
    match output.status.success() {
        true => Ok((cpu::of_children() - before).as_secs_f64()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// One target folder for all, so that shared dependencies are built once.
pub fn target(folder: &Path) -> PathBuf {
    folder.with_file_name("target")
}

/// Writes a crate with one file and a dependency on a library.
pub fn write(folder: &Path, library: &str, file: &str, source: &str) -> PathBuf {
    let (folder, dependency) = (folder.join(library.replace(' ', "-")), dependency(library));
    let manifest = format!(
        "[package]\nname = \"generated\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n{dependency}\n\
         [profile.release]\nstrip = true\n"
    );
    let source_folder = folder.join("src");
    let _ = std::fs::remove_dir_all(&source_folder);
    std::fs::create_dir_all(&source_folder).expect("a temporary folder");
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
    // The same versions, which are already downloaded.
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock");
    std::fs::copy(lock, folder.join("Cargo.lock")).expect("the lock file");
    std::fs::write(source_folder.join(file), source).expect("a source file");
    folder
}

pub fn dependency(library: &str) -> String {
    match library {
        FASTRACE => "fastrace = { version = \"=0.7.19\", features = [\"enable\"] }".to_owned(),
        TRACING => "tracing = \"0.1\"".to_owned(),
        _ => {
            let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime");
            format!("tracecast = {{ path = {runtime:?}, default-features = false }}")
        }
    }
}

/// Adds a line to the body of the middle function, or removes it.
pub fn edit(folder: &Path, round: usize) {
    let file = folder.join("src/lib.rs");
    let text = std::fs::read_to_string(&file).expect("the source file");
    let (line, added) =
        ("    let mut out = String::new();\n", "    let mut out = String::new();\n    let _edited = 1;\n");
    let middle = text.len() / 2;
    let at = middle + text[middle..].find(line).expect("a function behind the middle");
    let edited = match round % 2 {
        0 => text[at..].replacen(line, added, 1),
        _ => text[at..].replacen(added, line, 1),
    };
    std::fs::write(file, text[..at].to_owned() + &edited).expect("the source file");
}
