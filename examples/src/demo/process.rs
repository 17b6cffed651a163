//! The processes of the fleet: this program, started again in another role.

use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;

/// A line that a process printed; `None` when it has closed its output.
pub(crate) struct Said {
    pub(crate) process: &'static str,
    pub(crate) line: Option<String>,
}

/// A running process. Dropping it kills the process.
pub(crate) struct Process {
    pub(crate) name: &'static str,
    child: Child,
    /// Kept open: the process exits at the end of its input.
    input: Option<ChildStdin>,
    errors: Arc<Mutex<Vec<String>>>,
    reader: JoinHandle<()>,
}

/// How a process ended.
pub(crate) struct Ended {
    pub(crate) name: &'static str,
    pub(crate) code: Option<i32>,
    /// Its standard error.
    pub(crate) errors: Vec<String>,
}

impl Process {
    /// Starts this program again. Its standard output is sent to `said`, line by line.
    pub(crate) fn start(
        name: &'static str,
        role: &[&str],
        endpoint: Option<&str>,
        said: UnboundedSender<Said>,
    ) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(role).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        if let Some(endpoint) = endpoint {
            send_to(&mut command, endpoint);
        }
        let mut child = command.spawn()?;
        if let Some(output) = child.stdout.take() {
            tokio::spawn(tell(name, output, said));
        }
        let (input, errors) = (child.stdin.take(), Arc::<Mutex<Vec<String>>>::default());
        let reader = tokio::spawn(keep(child.stderr.take(), errors.clone()));
        Ok(Process { name, child, input, errors, reader })
    }

    /// Sends SIGTERM, through a shell, so that no library is needed.
    pub(crate) async fn terminate(&self) -> io::Result<()> {
        let Some(id) = self.child.id() else { return Ok(()) };
        let status = Command::new("sh").args(["-c", "kill -TERM \"$0\"", &id.to_string()]).status().await?;
        if status.success() { Ok(()) } else { Err(io::Error::other(format!("cannot send SIGTERM to {}", self.name))) }
    }

    /// Waits until the process exits.
    pub(crate) async fn ended(mut self) -> io::Result<Ended> {
        let code = self.child.wait().await?.code();
        drop(self.input);
        let _ = self.reader.await;
        let errors = std::mem::take(&mut *self.errors.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Ended { name: self.name, code, errors })
    }
}

/// Sends telemetry to the demo's own collector and removes all other settings from the environment.
fn send_to(command: &mut Command, endpoint: &str) {
    let is_setting = |name: &str| ["OTEL_", "TC_", "LOG_LEVEL", "RUST_LOG"].iter().any(|start| name.starts_with(start));
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_setting) {
            command.env_remove(name);
        }
    }
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint).env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
}

async fn tell(process: &'static str, output: impl AsyncRead + Unpin, said: UnboundedSender<Said>) {
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let _ = said.send(Said { process, line: Some(line) });
    }
    let _ = said.send(Said { process, line: None });
}

async fn keep(output: Option<impl AsyncRead + Unpin>, kept: Arc<Mutex<Vec<String>>>) {
    let Some(output) = output else { return };
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        kept.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}
