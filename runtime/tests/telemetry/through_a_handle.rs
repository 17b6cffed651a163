//! A handle has everything but the end: it works beside a `Shutdown` that took the guard, and names the end afterwards.

use std::thread;
use std::time::Duration;

use tracecast::config::{Config, Signal};
use tracecast::prelude::*;
use tracecast::shutdown::{Shutdown, State};
use tracecast::{Guard, Handle, NotRunning, ReloadError, Sampler, SetEnabledError};
use tracecast_receiver::Receiver;

use crate::turn::turn;

const LONG: Duration = Duration::from_secs(20);

tc_metrics! {
    /// Requests that were handled.
    static HANDLED: Counter = "tc_handled_total";
}

#[tc_span("Handle/Request")]
fn request() {
    HANDLED.add(1_u64, ());
}

fn start(receiver: &Receiver) -> Guard {
    Config::new().with_endpoint(receiver.endpoint()).with_exporters(Signal::Logs, Vec::new()).init().unwrap()
}

/// Each method once, with what it says when telemetry does not run.
#[track_caller]
fn check_not_running(handle: &Handle, reason: NotRunning) {
    assert_eq!(handle.set_sampler(&Sampler::AlwaysOn), Err(reason));
    assert_eq!(handle.set_filter("Handle=off".parse().unwrap()), Err(reason));
    #[cfg(feature = "logs")]
    assert_eq!(handle.set_log_filter("info".parse().unwrap()), Err(reason));
    assert_eq!(handle.set_enabled(Signal::Traces, true), Err(SetEnabledError::NotRunning(reason)));
    assert_eq!(handle.set_metric_enabled("tc_handled_total", true), Err(SetEnabledError::NotRunning(reason)));
    assert!(matches!(handle.reload(), Err(ReloadError::NotRunning(same)) if same == reason));
    let report = handle.flush(LONG);
    assert_eq!((report.not_running, report.to_string()), (Some(reason), reason.to_string()));
    assert_eq!(handle.render_prometheus(), format!("# {reason}\n"));
    assert!(!handle.is_on(Signal::Traces));
    assert_eq!(handle.export_stalled(), Duration::ZERO);
}

#[test]
fn it_works_beside_a_shutdown_and_names_the_end() {
    fn shared<T: Clone + Send + Sync + 'static>(of: &T) -> T {
        of.clone()
    }

    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = start(&receiver);
    let handle = shared(&telemetry.handle());
    let (of_step, of_report) = (handle.clone(), handle.clone());
    let shutdown = Shutdown::new(telemetry)
        .blocking_step("drain", move || {
            request();
            let text = of_step.render_prometheus();
            assert!(text.contains("\ntc_handled_total 2\n") && text.contains("target_info"), "{text}");
            assert_eq!(of_step.health().state(), State::ShuttingDown);
            of_step.set_sampler(&Sampler::AlwaysOff).unwrap();
            request();
        })
        .final_report(move |_| assert_eq!(of_report.flush(LONG).spans_exported, 1));
    request_elsewhere(&handle);
    assert_eq!(handle.health().state(), State::Running);
    let report = shutdown.run();
    assert!(report.is_ok(), "{report}");
    check_not_running(&handle, NotRunning::Ended);
    assert_eq!(handle.health().state(), State::ShuttingDown);
    assert_eq!(receiver.span_names(), ["Handle/Request"]);

    // Telemetry that is started again is another one.
    let again = start(&receiver);
    check_not_running(&handle, NotRunning::Ended);
    assert!(again.is_on(Signal::Traces) && again.health().state() == State::Running);
}

/// Switches spans off on another thread, and on again here.
fn request_elsewhere(handle: &Handle) {
    let other = handle.clone();
    thread::spawn(move || other.set_enabled(Signal::Traces, false).unwrap()).join().unwrap();
    request();
    assert!(!handle.is_on(Signal::Traces));
    handle.set_enabled(Signal::Traces, true).unwrap();
}

#[test]
fn a_dropped_guard_ends_it_and_a_failed_start_is_named() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = start(&receiver);
    let failed = tracecast::init();
    check_not_running(&failed, NotRunning::NotStarted);
    assert_eq!(failed.shutdown(LONG).not_running, Some(NotRunning::NotStarted));
    let handle = telemetry.handle();
    assert!(handle.is_on(Signal::Traces));
    drop(telemetry);
    check_not_running(&handle, NotRunning::Ended);
}

#[test]
fn metrics_without_an_exporter_are_named() {
    let _turn = turn();
    // Where telemetry is switched off; else reading them starts them.
    let handle = Config::new().with_enabled(false).init().unwrap();
    let expected = "# metrics have no exporter; set OTEL_METRICS_EXPORTER or an endpoint\n";
    assert_eq!(handle.render_prometheus(), expected);
    let error = handle.set_metric_enabled("tc_handled_total", false).unwrap_err();
    assert_eq!(error, SetEnabledError::NoExporter(Signal::Metrics));
}

/// A lock of the parent may be held for ever in the child, so nothing there waits for one.
#[cfg(unix)]
#[test]
fn in_a_forked_child_it_names_the_parent_and_waits_for_nothing() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = start(&receiver);
    // SAFETY: the child calls what takes no lock and no memory of other threads, and exits.
    let status = unsafe {
        let child = libc::fork();
        if child == 0 {
            let is_named = telemetry.set_sampler(&Sampler::AlwaysOff) == Err(NotRunning::Forked)
                && telemetry.flush(LONG).not_running == Some(NotRunning::Forked);
            libc::_exit(i32::from(!is_named));
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        status
    };
    assert_eq!(status, 0);
    request();
    assert_eq!(telemetry.shutdown(LONG).spans_exported, 1);
}
