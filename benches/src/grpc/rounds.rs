//! Rounds in turn: each layer runs in its own process, and the processes make calls one after the other.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::variants::{NONE, VARIANTS, Variant};
use crate::stats::Median;

/// Nanoseconds of processor time in each round, per call.
pub struct Measured {
    pub variant: &'static Variant,
    /// The whole process: client, server, and telemetry's threads.
    process: Vec<f64>,
    /// The server's thread only.
    server: Vec<f64>,
}

impl Measured {
    pub fn process(&self) -> Median {
        Median::of(self.process.iter().copied())
    }

    pub fn process_over(&self, base: &Measured) -> Median {
        Median::of_ratios(&self.process, &base.process)
    }

    pub fn server_over(&self, base: &Measured) -> Median {
        Median::of_ratios(&self.server, &base.server)
    }
}

/// The baseline of the comparison.
pub fn base(measured: &[Measured]) -> &Measured {
    measured.iter().find(|measured| measured.variant.name == NONE).expect("it is measured like the others")
}

/// Measures calls of this kind, `calls` per round.
pub fn measure(kind: &str, calls: u64, rounds: usize) -> Vec<Measured> {
    let variants = || VARIANTS.iter().filter(|variant| variant.connected);
    let mut workers: Vec<Worker> = variants().map(Worker::start).collect();
    let measured = |variant| Measured { variant, process: Vec::new(), server: Vec::new() };
    let mut all: Vec<Measured> = variants().map(measured).collect();
    // An untimed first round, for one-time work.
    for worker in &mut workers {
        worker.make(kind, calls);
    }
    for round in 0..rounds {
        for turn in 0..all.len() {
            // The order varies, so that no layer is always first or always after the same one.
            let at =
                if round % 2 == 0 { (turn + round) % all.len() } else { (all.len() * 2 - turn + round) % all.len() };
            let (process, server) = workers[at].make(kind, calls);
            all[at].process.push(process);
            all[at].server.push(server);
        }
    }
    all
}

struct Worker {
    child: Child,
    told: ChildStdin,
    says: BufReader<ChildStdout>,
}

impl Worker {
    fn start(variant: &Variant) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("the path of this program"))
            .args(["--grpc-worker", variant.name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program starts");
        let told = child.stdin.take().expect("it is piped");
        let says = BufReader::new(child.stdout.take().expect("it is piped"));
        Worker { child, told, says }
    }

    fn make(&mut self, kind: &str, calls: u64) -> (f64, f64) {
        writeln!(self.told, "{kind} {calls}").expect("the worker listens");
        let mut line = String::new();
        self.says.read_line(&mut line).expect("the worker answers");
        let (process, server) = line.trim().split_once(' ').expect("two figures");
        (process.parse().expect("a figure"), server.parse().expect("a figure"))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It would wait for more commands.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
