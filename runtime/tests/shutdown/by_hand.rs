//! A shutdown that the program runs itself: under any runtime, with a report, and without an exit.

use std::process::{ExitCode, Termination};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tracecast::Handle;
use tracecast::config::Config;
use tracecast::prelude::*;
use tracecast::shutdown::{Shutdown, ShutdownReport, State, StepOutcome};
use tracecast_receiver::Receiver;

use crate::turn::turn;

#[tc_span("Stop/Work")]
fn work() {}

fn shutdown(receiver: &Receiver) -> Shutdown {
    shutdown_and_handle(receiver).0
}

fn shutdown_and_handle(receiver: &Receiver) -> (Shutdown, Handle) {
    let telemetry = Config::new().with_endpoint(receiver.endpoint()).init().unwrap();
    let handle = telemetry.handle();
    (Shutdown::new(telemetry).with_timeout(Duration::from_secs(60)), handle)
}

fn outcomes(report: &ShutdownReport) -> Vec<(&str, &StepOutcome)> {
    report.steps.iter().chain(&report.final_report).map(|step| (step.name.as_str(), &step.outcome)).collect()
}

#[test]
fn the_report_says_what_became_of_all() {
    let _turn = turn();
    let receiver = Receiver::start();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = seen.clone();
    let report = shutdown(&receiver)
        .blocking_step("work", work)
        .step("fails", || async { Err::<(), _>("no") })
        .step("work", || async { work() })
        .step("stuck", std::future::pending::<()>)
        .within(Duration::from_millis(20))
        .final_report(move |steps| kept.lock().unwrap().extend(steps.iter().map(ToString::to_string)))
        .run();
    let failed = StepOutcome::Failed("no".to_owned());
    let (ok, hung) = (&StepOutcome::Ok, &StepOutcome::Hung);
    let expected = [("work", ok), ("fails", &failed), ("work", ok), ("stuck", hung), ("final_report", ok)];
    assert_eq!(outcomes(&report), expected);
    assert_eq!(*seen.lock().unwrap(), report.to_string().lines().take(4).collect::<Vec<_>>());
    let telemetry = report.telemetry.unwrap();
    assert_eq!((telemetry.spans_exported, telemetry.complete), (2, true));
    assert_eq!(receiver.span_names(), ["Stop/Work", "Stop/Work"]);
    assert!(report.steps[3].duration >= Duration::from_millis(20));
    assert_eq!((report.is_ok(), report.exit_code()), (false, 1));
    assert_eq!(format!("{:?}", report.report()), format!("{:?}", ExitCode::from(1)));
}

#[test]
fn a_shutdown_that_is_dropped_brings_out_telemetry_and_runs_nothing() {
    let _turn = turn();
    let receiver = Receiver::start();
    let (dropped, handle) = shutdown_and_handle(&receiver);
    let dropped = dropped.blocking_step("work", panic_now);
    work();
    drop(dropped);
    assert_eq!(receiver.span_names(), ["Stop/Work"]);
    assert_eq!(handle.health().state(), State::Running);
}

fn panic_now() {
    panic!("it is not to run");
}

#[test]
fn each_shutdown_has_a_state_of_its_own() {
    let _turn = turn();
    let receiver = Receiver::start();
    let (first, handle) = shutdown_and_handle(&receiver);
    let health = handle.health();
    assert_eq!(health.state(), State::Running);
    assert!(first.run().is_ok());
    assert_eq!(health.state(), State::ShuttingDown);
    let (_second, handle) = shutdown_and_handle(&receiver);
    assert_eq!(handle.health().state(), State::Running);
    assert_eq!(health.state(), State::ShuttingDown);
}

/// Runs one with a step on the runtime that waits for it, and one that waits for what that runtime does.
async fn under_a_runtime(receiver: &Receiver) {
    let (tell, told) = tokio::sync::oneshot::channel();
    let (shutdown, handle) = shutdown_and_handle(receiver);
    let health = handle.health();
    tokio::spawn(async move {
        health.shutting_down().await;
        tell.send(()).unwrap();
    });
    let here = tokio::runtime::Handle::current();
    let steps = shutdown.with_runtime(here).step("waits", || told).blocking_step("work", work);
    let report = steps.run_async().await;
    assert!(report.is_ok(), "{report}");
    assert_eq!(report.telemetry.map(|telemetry| telemetry.spans_exported), Some(1));
}

#[test]
fn it_runs_under_any_runtime() {
    let _turn = turn();
    let receiver = Receiver::start();
    let one = tokio::runtime::Builder::new_current_thread().build().unwrap();
    one.block_on(under_a_runtime(&receiver));
    let many = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    many.block_on(async { tokio::spawn(async move { under_a_runtime(&receiver).await }).await.unwrap() });
}

#[test]
fn a_step_may_block_the_runtime_that_it_is_called_on() {
    let _turn = turn();
    let receiver = Receiver::start();
    let one = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let report = one.block_on(async {
        let sleeps = || tokio::time::sleep(Duration::from_millis(1));
        shutdown(&receiver).step("sleeps", sleeps).blocking_step("work", work).run()
    });
    assert!(report.is_ok(), "{report}");
    assert_eq!(receiver.span_names(), ["Stop/Work"]);
}
