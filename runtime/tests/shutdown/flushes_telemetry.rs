//! Telemetry of a program that is told to stop: what its steps made arrives, and a receiver that is down or silent keeps
//! nothing from ending.

use std::net::TcpListener;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use tracecast::prelude::*;
use tracecast::shutdown::Shutdown;
use tracecast_receiver::{NOBODY, Receiver};

use crate::child::{Child, Output};

#[tc_span("Stop/Blocking")]
fn blocking() {}

#[tc_span("Stop/Async")]
async fn asynchronous() {}

#[tc_span("Stop/Report")]
fn report() {}

#[tc_span("Stop/Begun")]
fn begun() {}

/// Reached when the session has begun.
static SESSION: Barrier = Barrier::new(2);

/// Goes on for ever, and has a child that does not.
#[tc_span("Stop/Session", kind = server)]
fn session() {
    begun();
    SESSION.wait();
    hang();
}

/// What each program does.
#[test]
fn program() {
    let Some(what) = crate::child::role() else { return };
    let shutdown = Shutdown::new(tracecast::init());
    let shutdown = match what.as_str() {
        "steps" => shutdown.blocking_step("blocking", blocking).step("async", asynchronous),
        "hang" => shutdown.blocking_step("stuck", || {
            begun();
            hang();
        }),
        "short" => shutdown.blocking_step("blocking", blocking).with_flush_timeout(Duration::from_millis(100)),
        "open" => {
            thread::spawn(session);
            SESSION.wait();
            shutdown
        }
        other => panic!("no program is called {other}"),
    };
    let _armed = shutdown.final_report(|_| report()).on_signals();
    println!("ready");
    hang();
}

fn hang() {
    loop {
        thread::park();
    }
}

fn stop(what: &str, endpoint: &str, timeout: &str) -> Output {
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint), ("SHUTDOWN_TIMEOUT_MS", timeout)];
    let running = Child::new(module_path!(), "program", what).variables(&variables).spawn();
    running.wait_for("ready");
    running.signal(libc::SIGTERM);
    running.end()
}

fn endpoint(receiver: &Receiver) -> String {
    format!("http://{}", receiver.address)
}

#[test]
fn what_the_steps_made_arrives() {
    let receiver = Receiver::start();
    let output = stop("steps", &endpoint(&receiver), "60000");
    assert_eq!(output.code, Some(0), "{}", output.text);
    assert_eq!(receiver.span_names(), ["Stop/Blocking", "Stop/Async", "Stop/Report"]);
    let account = "telemetry: 3 spans ended = 3 exported + 0 dropped + 0 pending";
    assert!(output.text.contains(account), "{}", output.text);
}

#[test]
fn a_span_that_is_open_arrives_as_unfinished() {
    let receiver = Receiver::start();
    let output = stop("open", &endpoint(&receiver), "60000");
    assert_eq!(output.code, Some(0), "{}", output.text);
    let mut names = receiver.span_names();
    names.sort_unstable();
    assert_eq!(names, ["Stop/Begun", "Stop/Report", "Stop/Session"]);
    let account = "telemetry: 3 spans ended = 3 exported + 0 dropped + 0 pending; 1 spans still open: Stop/Session (1)";
    assert!(output.text.contains(account), "{}", output.text);
}

#[test]
fn what_was_made_before_a_hang_arrives_too() {
    let receiver = Receiver::start();
    let output = stop("hang", &endpoint(&receiver), "6000");
    assert_eq!(output.code, Some(1), "{}", output.text);
    assert_eq!(receiver.span_names(), ["Stop/Begun", "Stop/Report"]);
}

/// Neither the watchdog nor the exit code has anything to do with a receiver.
#[track_caller]
fn check_sick(endpoint: &str, what: &str, timeout: &str) {
    let output = stop(what, endpoint, timeout);
    assert_eq!(output.code, Some(0), "{}", output.text);
    assert!(!output.text.contains("shutdown is not done"), "{}", output.text);
    assert!(output.text.contains("2 pending") || output.text.contains("3 pending"), "{}", output.text);
}

#[test]
fn a_receiver_that_is_down_does_not_make_it_late() {
    check_sick(&format!("http://{NOBODY}"), "steps", "3000");
}

#[test]
fn a_receiver_that_never_answers_does_not_make_it_late() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    check_sick(&format!("http://{}", silent.local_addr().unwrap()), "steps", "3000");
}

#[test]
fn telemetry_can_be_given_less() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    check_sick(&format!("http://{}", silent.local_addr().unwrap()), "short", "600000");
}
