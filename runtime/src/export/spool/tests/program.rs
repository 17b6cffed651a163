//! Child processes: run one test again in a process of its own, which prints lines.

use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const ROLE: &str = "TRACECAST_SPOOL_ROLE";
const DIRECTORY: &str = "TRACECAST_SPOOL_DIRECTORY";

/// The role of this process and its directory, if it is such a child.
pub(super) fn role() -> Option<(String, PathBuf)> {
    Some((std::env::var(ROLE).ok()?, std::env::var_os(DIRECTORY)?.into()))
}

/// Prints a line for the parent, separate from the lines of the test harness.
pub(super) fn say(line: impl std::fmt::Display) {
    println!("\n@{line}");
}

/// A running child process.
pub(super) struct Program {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// Kept open: a child that reads it ends with the parent.
    _input: ChildStdin,
}

impl Program {
    /// Starts a test of this crate in a role, optionally through another command.
    pub(super) fn start(test: &str, role: &str, directory: &Path) -> Self {
        Self::start_by(Command::new(std::env::current_exe().unwrap()), test, role, directory)
    }

    pub(super) fn start_by(mut command: Command, test: &str, role: &str, directory: &Path) -> Self {
        let crate_name = module_path!().split("::").next().unwrap();
        let test = format!("{}::{test}", module_path!().strip_prefix(crate_name).unwrap().trim_start_matches("::"));
        let test = test.replace("::program::", "::");
        command.args(["--exact", &test, "--nocapture", "--test-threads=1"]);
        command.env(ROLE, role).env(DIRECTORY, directory);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let input = child.stdin.take().unwrap();
        Program { child, lines, _input: input }
    }

    /// The next line that the child prints; `None` if it has ended.
    pub(super) fn line(&mut self) -> Option<String> {
        self.lines.by_ref().map_while(Result::ok).find_map(|line| line.strip_prefix('@').map(str::to_owned))
    }

    /// Kills the child as `kill -9` does, and returns the remaining lines.
    pub(super) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::iter::from_fn(|| self.line()).collect()
    }

    /// All lines until the child ends by itself.
    pub(super) fn finish(mut self) -> Vec<String> {
        let said = std::iter::from_fn(|| self.line()).collect();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {said:?}");
        said
    }
}
