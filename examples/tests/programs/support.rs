//! Runs an example, and looks at what it exported.

use std::process::{Command, Output};

use tracecast_receiver::{Exported, Receiver};

/// An example with these variables and none that the environment of the test has.
pub(crate) fn command(program: &str, variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(program);
    let is_setting =
        |name: &String| ["OTEL_", "TC_", "LOG_LEVEL", "RUST_LOG"].iter().any(|start| name.starts_with(start));
    for name in std::env::vars().map(|(name, _)| name).filter(is_setting) {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied());
    command
}

/// The path of a program in `examples/examples`, which `cargo test` builds beside the tests.
pub(crate) fn example(name: &str) -> String {
    let this = std::env::current_exe().unwrap();
    let path =
        this.parent().unwrap().with_file_name("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(path.exists(), "{} is missing; `cargo test -p tracecast-examples` builds it", path.display());
    path.to_str().unwrap().to_owned()
}

/// Runs an example to its end, which has to be a good one, with a receiver for all that it exports.
pub(crate) fn run(program: &str) -> (String, Exported) {
    let receiver = Receiver::start();
    let endpoint: String = receiver.endpoint();
    let output = command(program, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)]).output().unwrap();
    (text(&output), receiver.exported())
}

/// What a program wrote, which has to have ended well.
pub(crate) fn text(output: &Output) -> String {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}
