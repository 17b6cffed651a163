//! Programs of their own: a test that is run again, alone, in a process with an environment of its own.

use std::process::Command;

const ROLE: &str = "TRACECAST_TEST_ROLE";

/// What this process shall do, if it is such a program.
pub(crate) fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

/// A program that is to be run.
pub(crate) struct Child {
    command: Command,
}

/// What came of it.
pub(crate) struct Output {
    pub(crate) succeeded: bool,
    /// All that it wrote, to either stream.
    pub(crate) text: String,
}

#[allow(dead_code, reason = "each test uses what it needs")]
impl Child {
    /// The test with this name, in this role, with no variable that could mean anything to us.
    pub(crate) fn new(test: &str, role: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["OTEL_", "TC_", "LOG_LEVEL", "RUST_LOG", "NO_COLOR"].iter().any(|start| text.starts_with(start)) {
                command.env_remove(name);
            }
        }
        command.env(ROLE, role);
        Child { command }
    }

    pub(crate) fn variables(mut self, variables: &[(&str, &str)]) -> Self {
        self.command.envs(variables.iter().copied());
        self
    }

    pub(crate) fn run(mut self) -> Output {
        let output = self.command.output().unwrap();
        let text = [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat();
        Output { succeeded: output.status.success(), text }
    }
}

#[allow(dead_code, reason = "each test uses what it needs")]
impl Output {
    /// What Tracecast said to the operator.
    pub(crate) fn said(&self) -> Vec<String> {
        self.text.lines().filter_map(|line| line.strip_prefix("tracecast: ")).map(str::to_owned).collect()
    }
}
