//! A panic that ends the process: what is pending is sent or put on disk, and open spans are there as `panicked`.
//!
//! A program without a test harness: here the main thread is that of the program.
#![cfg_attr(not(all(unix, feature = "otlp", not(miri))), allow(unused, reason = "there is no such test there"))]

#[cfg(all(unix, feature = "otlp", not(miri)))]
#[path = "support/child.rs"]
mod child;
#[cfg(all(unix, feature = "otlp", not(miri)))]
#[path = "support/faulty.rs"]
mod faulty;
#[cfg(all(unix, feature = "otlp", not(miri)))]
#[path = "support/panics.rs"]
mod panics;

#[cfg(not(all(unix, feature = "otlp", not(miri))))]
fn main() {}

#[cfg(all(unix, feature = "otlp", not(miri)))]
fn main() {
    if let Some(role) = child::role() {
        return panics::program(&role);
    }
    tests::the_main_thread();
    tests::the_spool();
    let aborting = tests::built();
    tests::abort(&aborting);
    tests::outcomes(&aborting);
    println!("test result: ok");
}

#[cfg(all(unix, feature = "otlp", not(miri)))]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use tracecast::config::Protocol;

    use super::child::{Child, Output};
    use super::faulty::{Faulty, Folder, Mood};

    /// Metrics are read at the end too, and need time that the hook may not have.
    const TRACES: (&str, &str) = ("OTEL_METRICS_EXPORTER", "none");

    fn run(role: &str, receiver: &Faulty) -> Output {
        let variables = receiver.variables();
        let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).chain([TRACES]).collect();
        Child::new(module_path!(), "program", role).variables(&variables).run()
    }

    /// Names of the spans that came, in alphabetical order.
    fn names(receiver: &Faulty) -> Vec<String> {
        let mut names: Vec<_> = receiver.spans().into_iter().map(|span| span.name).collect();
        names.sort();
        names
    }

    pub(super) fn the_main_thread() {
        let up = || Faulty::start(Protocol::HttpProtobuf, Mood::Up, false);
        let all = ["Panics/Done", "Panics/Inner", "Panics/Outer"];
        for (role, code, expected) in [
            ("unwinds", 101, &all[..]),
            ("exits in its own hook", 3, &all[..]),
            ("has no hook", 101, &[]),
            ("is on another thread", 0, &[]),
            ("is in a task", 0, &[]),
        ] {
            let receiver = up();
            let output = run(role, &receiver);
            assert_eq!((output.code, names(&receiver)), (Some(code), strings(expected)), "{role}: {}", output.text);
        }
    }

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn files(folder: &Folder) -> usize {
        std::fs::read_dir(&folder.0).map_or(0, Iterator::count)
    }

    pub(super) fn the_spool() {
        let folder = Folder::new("panics");
        let receiver = Faulty::start(Protocol::HttpProtobuf, Mood::Absent, false);
        let variables = receiver.variables();
        let spool = ("TC_SPOOL_DIR", folder.0.to_str().unwrap());
        let all: Vec<_> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).chain([TRACES, spool]).collect();
        let output = Child::new(module_path!(), "program", "unwinds").variables(&all).run();
        assert_eq!(output.code, Some(101), "{}", output.text);
        assert!(files(&folder) > 0, "nothing is on disk: {}", output.text);
    }

    /// A program of a build in which a panic aborts.
    pub(super) fn abort(program: &Path) {
        for role in ["unwinds", "is on another thread", "is in a task"] {
            let receiver = Faulty::start(Protocol::HttpProtobuf, Mood::Up, false);
            let mut command = Command::new(program);
            let output = command.arg(role).envs(receiver.variables()).envs([TRACES]).output().unwrap();
            let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
            let expected = if role == "is in a task" {
                &["Panics/Async"][..]
            } else {
                &["Panics/Done", "Panics/Inner", "Panics/Outer"]
            };
            let text = String::from_utf8_lossy(&output.stderr);
            assert_eq!((signal, names(&receiver)), (Some(libc::SIGABRT), strings(expected)), "{role}: {text}");
        }
    }

    /// Shows the spans of a program that is aborted.
    pub(super) fn outcomes(program: &Path) {
        let output = Command::new(program).env("OTEL_TRACES_EXPORTER", "console").output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        let shown = |start: &str| text.lines().any(|line| line.trim_start().starts_with(start));
        assert!(shown("Panics/Outer panicked ") && shown("Panics/Inner panicked "), "{text}");
        assert!(shown("Panics/Done ") && !shown("Panics/Done panicked "), "{text}");
    }

    pub(super) fn built() -> PathBuf {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        // Where the tests of compile errors build: what both need is built once.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../tests/trybuild");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--manifest-path"]).arg(root.join("ui-tests/abort/Cargo.toml"));
        let built = cargo.env("CARGO_TARGET_DIR", &target).env_remove("RUSTFLAGS").status().unwrap();
        assert!(built.success());
        target.join("debug/tracecast-abort-test")
    }
}
