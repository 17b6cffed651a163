//! Programs that panic while spans are open and telemetry waits. None of them has a guard that could bring it out.

use tracecast::config::Config;
use tracecast::prelude::*;

#[tc_span("Panics/Outer")]
fn outer(inner: fn()) {
    done();
    inner();
}

#[tc_span("Panics/Done")]
fn done() {}

#[tc_span("Panics/Inner")]
fn panic_inside() {
    panic!("on purpose");
}

#[tc_span("Panics/Async")]
async fn panic_in_a_task() {
    panic!("on purpose");
}

/// What a program does.
pub(crate) fn program(role: &str) {
    if role == "exits in its own hook" {
        std::panic::set_hook(Box::new(|_| std::process::exit(3)));
    }
    let config = Config::from_env();
    let config = if role == "has no hook" { config } else { config.with_panic_hook() };
    std::mem::forget(config.init().unwrap());
    match role {
        "is on another thread" => drop(std::thread::spawn(|| outer(panic_inside)).join()),
        "is in a task" => {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let is_caught = runtime.block_on(async { tokio::spawn(panic_in_a_task()).await.is_err() });
            println!("caught: {is_caught}");
        }
        _ => outer(panic_inside),
    }
}
