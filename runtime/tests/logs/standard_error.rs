//! Whole programs and their lines on standard error: JSON where that is no terminal, each in one piece, in their order, and
//! nobody waits for whoever should read them.

use std::io::Read;
use std::ptr::{null, null_mut};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tracecast::__logs::{Options, TestLogs};
use tracecast::config::Protocol;
use tracecast::prelude::*;

use crate::child::{Child, Running};
use crate::faulty::{Faulty, Mood};

/// Lines that the programs below log while nobody reads: more than the queue has room for.
const MANY: u64 = 30_000;
/// And as many as it has room for.
const FEW: u64 = 3_000;

#[tc_span("Lines/Step", attrs(tracecast::keys::size_bytes = number))]
fn step(number: u64) {
    let _ = number;
}

/// What each program does.
#[test]
fn program() {
    let Some(what) = crate::child::role() else { return };
    match what.as_str() {
        "many threads" => many_threads(),
        "not blocking" => {
            set_nonblocking(true);
            many_threads();
        }
        "backend down" => backend_down(),
        "exits" => {
            let _telemetry = blocked_program(FEW);
            std::process::exit(0);
        }
        "returns" => drop(blocked_program(FEW)),
        "panics" => {
            let _telemetry = blocked_program(FEW);
            panic!("on purpose");
        }
        "aborts" => {
            let _telemetry = tracecast::init();
            tracing::info!(at = 0);
            std::process::abort();
        }
        "forks" => forks(),
        "terminal" => terminal(),
        other => panic!("no program is called {other}"),
    }
}

/// Lines of each thread in `many_threads`: all of them fit into the queue of 1 MiB, however slow the reader is, and each is longer
/// than what a pipe takes as a whole.
const EACH: u64 = 40;

fn many_threads() {
    let _logs = TestLogs::start(Options { stderr: true, install: true, ..Options::default() });
    let text = "x\n".repeat(900);
    thread::scope(|scope| {
        for thread in 0..4 {
            let text = &text;
            scope.spawn(move || (0..EACH).for_each(|at| tracing::info!(thread, at, text, "{text}")));
        }
    });
}

fn backend_down() {
    fill();
    let telemetry = tracecast::init();
    (0..MANY).for_each(|at| tracing::info!(at));
    step(1);
    println!("logged;");
    wait_for_input();
    tracing::info!(at = "after");
    let report = telemetry.shutdown(Duration::from_secs(20));
    assert_eq!((report.spans_ended, report.spans_exported), (1, 1), "{report}");
}

/// Logs while nobody reads, and goes on when somebody does.
fn blocked_program(lines: u64) -> tracecast::Guard {
    fill();
    let telemetry = tracecast::init();
    (0..lines).for_each(|at| tracing::info!(at));
    println!("logged;");
    wait_for_input();
    telemetry
}

fn forks() {
    let telemetry = blocked_program(10);
    // SAFETY: the child logs and exits.
    let child = unsafe { libc::fork() };
    tracing::info!(at = if child == 0 { "child" } else { "parent" });
    if child == 0 {
        std::process::exit(0);
    }
    let mut status = 0;
    // SAFETY: a plain system call.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    drop(telemetry);
}

/// Logs to a terminal whose other end is not read, and starts reading it once all lines are logged.
fn terminal() {
    let (mut master, mut slave) = (0, 0);
    // SAFETY: both descriptors are written; there are no names, modes or sizes.
    assert_eq!(unsafe { libc::openpty(&mut master, &mut slave, null_mut(), null(), null()) }, 0);
    // SAFETY: plain system calls on descriptors that are open.
    assert_eq!(unsafe { libc::dup2(slave, 2) }, 2);
    let telemetry = tracecast::init();
    (0..FEW).for_each(|at| tracing::info!(at));
    println!("logged;");
    // SAFETY: the descriptor is open and nobody else's.
    let mut reader = unsafe { <std::fs::File as std::os::fd::FromRawFd>::from_raw_fd(master) };
    let reader = thread::spawn(move || {
        let (mut text, mut part) = (Vec::new(), [0; 4096]);
        while !String::from_utf8_lossy(&text).contains("the last one") {
            let read = reader.read(&mut part).unwrap();
            text.extend_from_slice(&part[..read]);
        }
        String::from_utf8_lossy(&text).matches("at=").count()
    });
    tracing::info!("the last one");
    assert_eq!(reader.join().unwrap() as u64, FEW);
    drop(telemetry);
}

fn wait_for_input() {
    let _ = std::io::stdin().read(&mut [0]);
}

/// Fills the pipe that is standard error.
fn fill() {
    set_nonblocking(true);
    let line = [b"x".repeat(99), b"\n".to_vec()].concat();
    // SAFETY: the pointer and the length are those of a slice.
    while unsafe { libc::write(2, line.as_ptr().cast(), line.len()) } > 0 {}
    set_nonblocking(false);
}

fn set_nonblocking(on: bool) {
    // SAFETY: plain system calls.
    unsafe {
        let flags = libc::fcntl(2, libc::F_GETFL);
        let flags = if on { flags | libc::O_NONBLOCK } else { flags & !libc::O_NONBLOCK };
        assert_eq!(libc::fcntl(2, libc::F_SETFL, flags), 0);
    }
}

/// The JSON lines of a program.
fn json(text: &str) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().filter(|line| line.starts_with('{')).map(parse).collect()
}

/// The `at` of each line that has one.
fn at(lines: &[Value]) -> Vec<Value> {
    lines.iter().filter_map(|line| line.get("at").cloned()).collect()
}

fn numbers(end: u64) -> Vec<Value> {
    (0..end).map(Value::from).collect()
}

#[test]
fn lines_of_many_threads_are_whole() {
    for role in ["many threads", "not blocking"] {
        let output = Child::new(module_path!(), "program", role).spawn().end();
        assert!(output.succeeded, "{}", output.text);
        let lines = json(&output.text);
        assert_eq!(lines.len() as u64, 4 * EACH, "{role}");
        for thread in 0..4 {
            let own: Vec<_> = lines.iter().filter(|line| line["thread"] == thread).cloned().collect();
            assert!(own.iter().all(|line| line.to_string().len() > libc::PIPE_BUF), "{role}");
            assert_eq!(at(&own), numbers(EACH), "{role}");
        }
    }
}

/// Starts a program of which nobody reads standard error, and waits until it has logged.
fn blocked(role: &str, variables: &[(&str, &str)]) -> Running {
    // The standard library writes a backtrace piece by piece, and holds no lock meanwhile.
    let plain = Child::new(module_path!(), "program", role).variables(&[("RUST_BACKTRACE", "0")]);
    let running = plain.variables(variables).spawn_unread();
    running.wait_for("logged;");
    running
}

#[test]
fn standard_error_that_nobody_reads_stops_nothing_and_lost_lines_are_counted() {
    let receiver = Faulty::start(Protocol::HttpProtobuf, Mood::Absent, false);
    let variables: Vec<_> = receiver.variables().into_iter().chain([("TC_LOG_FORMAT", "json".to_owned())]).collect();
    let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut running = blocked("backend down", &variables);
    // The backend comes back while standard error is still full.
    receiver.set(Mood::Up);
    receiver.wait_for(1);

    running.read_error();
    running.wait_for("lines were dropped while standard error was blocked");
    running.close_input();
    let output = running.end();
    assert!(output.succeeded, "{}", output.text);
    let lines = json(&output.text);
    let lost = |line: &Value| {
        let count = line["message"].as_str()?.strip_suffix(" lines were dropped while standard error was blocked");
        count?.parse::<u64>().ok()
    };
    let report = lines.iter().position(|line| lost(line).is_some()).unwrap();
    let (kept, lost) = (at(&lines[..report]), lost(&lines[report]).unwrap());
    assert_eq!(kept, numbers(kept.len() as u64), "in their order, and the last are missing");
    assert!(lost >= MANY - kept.len() as u64 && !kept.is_empty(), "{lost} of {MANY} lost, {} kept", kept.len());
    assert_eq!(at(&lines[report..]), ["after"]);
}

#[test]
fn lines_that_wait_are_written_at_the_end() {
    for (role, code) in [("exits", 0), ("returns", 0), ("panics", 101)] {
        let mut running = blocked(role, &[("LOG_LEVEL", "info")]);
        running.close_input();
        running.read_error();
        let output = running.end();
        assert_eq!((output.code, at(&json(&output.text))), (Some(code), numbers(FEW)), "{role}");
    }
}

#[test]
fn an_end_waits_for_nobody_who_does_not_read() {
    for role in ["exits", "returns"] {
        let mut running = blocked(role, &[("LOG_LEVEL", "info")]);
        running.close_input();
        assert_eq!(running.end().code, Some(0), "{role}");
    }
}

#[test]
fn a_line_is_out_before_the_next_statement_runs() {
    let output = Child::new(module_path!(), "program", "aborts").variables(&[("LOG_LEVEL", "info")]).run();
    assert_eq!((output.signal, at(&json(&output.text))), (Some(libc::SIGABRT), numbers(1)), "{}", output.text);
}

#[test]
fn a_forked_child_writes_its_own_lines_and_none_of_its_parents() {
    let mut running = blocked("forks", &[("LOG_LEVEL", "info")]);
    running.close_input();
    running.read_error();
    let output = running.end();
    assert!(output.succeeded, "{}", output.text);
    let mut lines = at(&json(&output.text));
    let child = lines.iter().position(|at| at == "child").unwrap();
    lines.remove(child);
    assert_eq!(lines, [numbers(10), vec!["parent".into()]].concat());
}

#[test]
#[cfg(target_os = "linux")]
fn a_terminal_that_nobody_reads_keeps_nobody_waiting() {
    let program = Child::new(module_path!(), "program", "terminal").variables(&[("LOG_LEVEL", "info")]).spawn();
    program.wait_for("logged;");
    let output = program.end();
    assert!(output.succeeded, "{}", output.text);
}
