//! Telemetry starts, flushes and ends under every kind of runtime, and under none, called from wherever a program may be.

use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tracecast::config::{Config, Protocol};
use tracecast::prelude::*;
use tracecast_receiver::Receiver;

use crate::turn::turn;

#[tc_span("Store/Load")]
async fn load() {
    tokio::task::yield_now().await;
}

#[tc_span("Store/Read")]
fn read() {}

const LONG: Duration = Duration::from_secs(20);

fn config(receiver: &Receiver) -> Config {
    Config::new().with_endpoint(receiver.endpoint())
}

/// Runs all of it inside of a task, so that the runtime's only thread is the one that waits.
fn inside(runtime: &Runtime, as_task: bool) {
    let receiver = Receiver::start();
    let config = config(&receiver);
    let all = async move {
        let telemetry = config.init().unwrap();
        load().await;
        let report = telemetry.flush(LONG);
        assert!(report.complete && report.spans_exported == 1, "{report}");
        load().await;
        let report = telemetry.shutdown(LONG);
        assert!(report.complete && report.spans_exported == 2, "{report}");
    };
    if as_task {
        runtime.block_on(async { tokio::spawn(all).await.unwrap() });
    } else {
        runtime.block_on(all);
    }
    assert_eq!(receiver.span_names(), ["Store/Load", "Store/Load"]);
}

#[test]
fn no_runtime() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = config(&receiver).init().unwrap();
    read();
    assert!(telemetry.flush(LONG).complete);
    let report = telemetry.shutdown(LONG);
    assert_eq!((report.spans_exported, report.complete), (1, true), "{report}");
}

#[test]
fn a_current_thread_runtime() {
    let _turn = turn();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    inside(&runtime, false);
    inside(&runtime, true);
}

#[test]
fn a_current_thread_runtime_without_drivers() {
    let _turn = turn();
    inside(&Builder::new_current_thread().build().unwrap(), true);
}

#[test]
fn one_worker() {
    let _turn = turn();
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    inside(&runtime, false);
    inside(&runtime, true);
}

#[test]
fn several_workers() {
    let _turn = turn();
    let runtime = Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    inside(&runtime, false);
    inside(&runtime, true);
}

#[tokio::test]
#[expect(clippy::await_holding_lock, reason = "the tests take turns, each on a runtime of its own")]
async fn a_test_of_tokio() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = config(&receiver).init().unwrap();
    load().await;
    assert_eq!(telemetry.shutdown(LONG).spans_exported, 1);
}

#[test]
fn begun_under_one_runtime_and_ended_under_another() {
    let _turn = turn();
    let receiver = Receiver::start();
    let first = Builder::new_current_thread().enable_all().build().unwrap();
    let telemetry = first.block_on(async { config(&receiver).init().unwrap() });
    first.block_on(load());
    drop(first);
    let second = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let report = second.block_on(async move { tokio::spawn(async move { telemetry.shutdown(LONG) }).await.unwrap() });
    assert_eq!((report.spans_exported, report.complete), (1, true), "{report}");
}

#[test]
fn many_flush_at_once() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = config(&receiver).init().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    read();
                    assert!(telemetry.flush(LONG).complete);
                }
            });
        }
    });
    let report = telemetry.shutdown(LONG);
    assert_eq!((report.spans_ended, report.spans_exported), (160, 160), "{report}");
}

#[test]
fn a_black_hole_over_grpc_does_not_hold_the_runtime() {
    let _turn = turn();
    // It takes connections and never says a word.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let report = runtime.block_on(async move {
        let telemetry = Config::new().with_endpoint(endpoint).with_protocol(Protocol::Grpc).init().unwrap();
        load().await;
        tokio::spawn(async move { telemetry.shutdown(Duration::from_millis(300)) }).await.unwrap()
    });
    assert_eq!((report.spans_ended, report.spans_pending, report.complete), (1, 1, false), "{report}");
}
