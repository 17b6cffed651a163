//! Where spans are off after `init`, annotated code passes on the context that it was given as `parent`.

use std::future::Future;

use futures::StreamExt as _;
use futures::executor::block_on;
use futures::stream::{self, Stream};
use tracecast::Carrier;
use tracecast::prelude::*;

use crate::child::{Child, role};

const TRACEPARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[tc_span("Worker/Run", parent = carrier.extract())]
fn sync(carrier: &Carrier) -> Carrier {
    Carrier::inject()
}

#[tc_span("Worker/Run", parent = carrier.extract())]
async fn asynchronous(carrier: &Carrier) -> Carrier {
    std::future::ready(()).await;
    Carrier::inject()
}

#[tc_span("Worker/Run", parent = carrier.extract())]
fn made(carrier: &Carrier) -> impl Future<Output = Carrier> + use<> {
    let found = Carrier::inject();
    async move {
        assert_eq!(Carrier::inject(), found);
        found
    }
}

#[tc_span("Worker/Run", stream, parent = carrier.extract())]
fn streamed(carrier: &Carrier) -> impl Stream<Item = Carrier> + use<> {
    stream::once(async { Carrier::inject() })
}

#[tc_span("Worker/Run", parent = carrier.extract())]
#[tc_metric(calls = "tc_passed_on_total")]
fn measured(carrier: &Carrier) -> Carrier {
    Carrier::inject()
}

fn scoped(carrier: &Carrier) -> Carrier {
    let _scope = tc_scope!("Worker/Run", parent = carrier.extract());
    Carrier::inject()
}

fn check(test: &str, variables: &[(&str, &str)]) {
    if role().is_none() {
        let output = Child::new(module_path!(), test, "off").variables(variables).run();
        assert!(output.succeeded, "{}", output.text);
        assert_eq!(output.text.matches(TRACEPARENT).count(), 6, "{}", output.text);
        return;
    }
    let telemetry = tracecast::init();
    let carrier = Carrier::new(TRACEPARENT.to_owned());
    let streamed = block_on(streamed(&carrier).collect::<Vec<_>>()).remove(0);
    let passed_on = [
        ("sync", sync(&carrier)),
        ("async", block_on(asynchronous(&carrier))),
        ("made", block_on(made(&carrier))),
        ("streamed", streamed),
        ("measured", measured(&carrier)),
        ("scoped", scoped(&carrier)),
    ];
    for (what, passed_on) in passed_on {
        println!("{what} {}", passed_on.traceparent.unwrap_or_default());
    }
    assert_eq!(Carrier::inject(), Carrier::default(), "nothing stays on the thread");
    assert_eq!(telemetry.shutdown(std::time::Duration::from_secs(20)).spans_exported, 0);
}

#[test]
fn without_any_variable() {
    check("without_any_variable", &[]);
}

#[test]
fn without_an_exporter_of_traces() {
    check("without_an_exporter_of_traces", &[("OTEL_TRACES_EXPORTER", "none")]);
}

#[test]
fn with_metrics_only() {
    check("with_metrics_only", &[("OTEL_METRICS_EXPORTER", "console")]);
}
