//! Programs of their own: a test that is run again, alone, in a process with an environment of its own.

use std::io::Read;
use std::process::{self, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const ROLE: &str = "TRACECAST_TEST_ROLE";
/// How long a program is waited for.
const LIMIT: Duration = Duration::from_secs(40);

/// What this process shall do, if it is such a program.
pub(crate) fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

/// Whether this is the process in which a test runs alone. Anywhere else the test is run in one, and must not fail there.
#[allow(dead_code, reason = "each test crate uses a part of it")]
pub(crate) fn is_alone(module: &str, test: &str) -> bool {
    const ALONE: &str = "alone";
    if role().as_deref() == Some(ALONE) {
        return true;
    }
    let output = Child::new(module, test, ALONE).run();
    assert!(output.succeeded && output.text.contains("test result: ok. 1 passed"), "{}", output.text);
    false
}

/// A program that is to be run.
pub(crate) struct Child {
    command: Command,
}

/// What came of it.
#[allow(dead_code, reason = "each test crate uses a part of it")]
pub(crate) struct Output {
    pub(crate) succeeded: bool,
    /// What it exited with, if no signal ended it.
    pub(crate) code: Option<i32>,
    /// The signal that ended it.
    pub(crate) signal: Option<i32>,
    /// All that it wrote, to either stream.
    pub(crate) text: String,
}

/// A shell that starts the tests in the background has them ignore SIGINT, and a program inherits that.
#[cfg(unix)]
fn default_signals(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;

    let reset = || {
        for signal in [libc::SIGINT, libc::SIGTERM] {
            // SAFETY: the default is a disposition that every signal has.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: `signal` may be called between fork and exec.
    unsafe { command.pre_exec(reset) };
}

#[cfg(not(unix))]
fn default_signals(_: &mut Command) {}

#[allow(dead_code, reason = "each test crate uses a part of it")]
impl Child {
    /// The test with this name in a module (its `module_path!()`), in this role, with no variable that could mean anything
    /// to us.
    pub(crate) fn new(module: &str, test: &str, role: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        // The harness does not name the crate.
        let name = module.split_once("::").map_or(test.to_owned(), |(_, module)| format!("{module}::{test}"));
        command.args(["--exact", &name, "--nocapture", "--test-threads=1"]);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["OTEL_", "TC_", "LOG_LEVEL", "RUST_LOG", "NO_COLOR", "SHUTDOWN_"]
                .iter()
                .any(|start| text.starts_with(start))
                || text.to_ascii_lowercase().ends_with("_proxy")
            {
                command.env_remove(name);
            }
        }
        command.env(ROLE, role);
        default_signals(&mut command);
        Child { command }
    }

    pub(crate) fn variables(mut self, variables: &[(&str, &str)]) -> Self {
        self.command.envs(variables.iter().copied());
        self
    }

    pub(crate) fn run(mut self) -> Output {
        let output = self.command.output().unwrap();
        let text = [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat();
        Output::new(output.status, text)
    }

    /// Starts it, and reads what it writes.
    pub(crate) fn spawn(self) -> Running {
        let mut running = self.spawn_unread();
        running.read_error();
        running
    }

    /// Starts it, and does not read what it writes to standard error.
    pub(crate) fn spawn_unread(mut self) -> Running {
        let mut child =
            self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let output = child.stdout.take().unwrap();
        let mut running = Running { child, streams: Vec::new() };
        running.read(output);
        running
    }
}

/// A program that runs. It is ended with the test.
#[allow(dead_code, reason = "each test crate uses a part of it")]
pub(crate) struct Running {
    child: process::Child,
    streams: Vec<(Arc<Mutex<String>>, JoinHandle<()>)>,
}

#[allow(dead_code, reason = "each test crate uses a part of it")]
impl Running {
    fn read(&mut self, mut stream: impl Read + Send + 'static) {
        let text = Arc::<Mutex<String>>::default();
        let kept = text.clone();
        let reader = thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(read @ 1..) = stream.read(&mut part) {
                kept.lock().unwrap().push_str(&String::from_utf8_lossy(&part[..read]));
            }
        });
        self.streams.push((text, reader));
    }

    /// Begins to read what it writes to standard error.
    pub(crate) fn read_error(&mut self) {
        let error = self.child.stderr.take().unwrap();
        self.read(error);
    }

    /// All that it has written.
    pub(crate) fn text(&self) -> String {
        let texts: Vec<_> = self.streams.iter().map(|(text, _)| text.lock().unwrap().clone()).collect();
        texts.join("\n")
    }

    /// Waits until it has written this.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        let began = Instant::now();
        while !self.text().contains(text) {
            assert!(began.elapsed() < LIMIT, "no `{text}` in: {}", self.text());
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: i32) {
        let process = i32::try_from(self.child.id()).unwrap();
        // SAFETY: a plain system call; the process is a child that was not waited for, so its id is its own.
        assert_eq!(unsafe { libc::kill(process, signal) }, 0);
    }

    /// Ends its standard input.
    pub(crate) fn close_input(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Waits for its end. It comes within a limit that is shorter than a minute.
    #[track_caller]
    pub(crate) fn end(mut self) -> Output {
        let began = Instant::now();
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None => assert!(began.elapsed() < LIMIT, "it does not end: {}", self.text()),
            }
            thread::sleep(Duration::from_millis(5));
        };
        let ended = self.streams.drain(..).map(|(text, reader)| {
            reader.join().unwrap();
            std::mem::take(&mut *text.lock().unwrap())
        });
        let text = ended.collect::<Vec<_>>().join("\n");
        Output::new(status, text)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a line is a notice of Tracecast, and not one that the program logged.
#[allow(dead_code, reason = "each test crate uses a part of it")]
pub(crate) fn is_notice(line: &serde_json::Value) -> bool {
    line["target"] == "tracecast"
}

#[allow(dead_code, reason = "each test crate uses a part of it")]
impl Output {
    fn new(status: ExitStatus, text: String) -> Self {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        Output { succeeded: status.success(), code: status.code(), signal, text }
    }

    /// The notices of Tracecast to the operator, as text; those that are JSON too.
    pub(crate) fn said(&self) -> Vec<String> {
        let text = |line: &str| {
            if let Some(text) = line.strip_prefix("tracecast: ") {
                return Some(text.to_owned());
            }
            let line: serde_json::Value = serde_json::from_str(line).ok().filter(is_notice)?;
            let prefix = match line["level"].as_str()? {
                "error" => "error: ",
                "warn" => "warning: ",
                _ => "",
            };
            Some(format!("{prefix}{}", line["message"].as_str()?))
        };
        self.text.lines().filter_map(text).collect()
    }
}
