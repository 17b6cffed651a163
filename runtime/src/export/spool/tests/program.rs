//! Programs of their own: a test that is run again, alone, in another process, and says things line by line.

use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const ROLE: &str = "TRACECAST_SPOOL_ROLE";
const DIRECTORY: &str = "TRACECAST_SPOOL_DIRECTORY";

/// What this process shall do and where, if it is such a program.
pub(super) fn role() -> Option<(String, PathBuf)> {
    Some((std::env::var(ROLE).ok()?, std::env::var_os(DIRECTORY)?.into()))
}

/// Says a line to who started this program. What the test harness says stands on lines of its own.
pub(super) fn say(line: impl std::fmt::Display) {
    println!("\n@{line}");
}

/// A program that runs.
pub(super) struct Program {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// A program that reads it ends when this does.
    _input: ChildStdin,
}

impl Program {
    /// Starts a test of this crate in a role, by another command if need be.
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

    /// The next line that it says, while it runs.
    pub(super) fn line(&mut self) -> Option<String> {
        self.lines.by_ref().map_while(Result::ok).find_map(|line| line.strip_prefix('@').map(str::to_owned))
    }

    /// Ends it as `kill -9` does, and gives what it had yet said.
    pub(super) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::iter::from_fn(|| self.line()).collect()
    }

    /// All that it says until it ends by itself.
    pub(super) fn finish(mut self) -> Vec<String> {
        let said = std::iter::from_fn(|| self.line()).collect();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {said:?}");
        said
    }
}
