//! Checks that everything was seen that the demo promises to show, and lists the rest.

use super::SECOND;
use super::fleet::Outcome;
use super::received::{Received, Span};
use super::series::{FAMILIES, family};
use super::trace::Trace;

const PROCESSES: usize = 4;

/// Checks exit codes, accounts and the client's output, without telemetry.
pub(crate) fn of_processes(outcome: &Outcome) -> Vec<String> {
    let mut missing = Missing::default();
    for ended in &outcome.ended {
        let said = ended.errors.join("\n    ");
        missing.unless(ended.code == Some(0), || {
            format!("a clean exit of {}; its standard error:\n    {said}", ended.name)
        });
    }
    for (name, account) in outcome.accounts() {
        missing.unless(account.is_some_and(|account| account.is_exact()), || format!("an exact account of {name}"));
        let left = account.map_or(0, |account| account.pending);
        missing.unless(left == 0, || format!("a backend that accepts everything; {left} spans are pending in {name}"));
    }
    for start in
        ["registered 4", "materialized resnet-50", "failed: ", "gave mixtral-8x7b up", "materialized gemma-2-9b"]
    {
        let seen = outcome.story.iter().any(|line| line.starts_with(start));
        missing.unless(seen, || format!("a client that prints `{start}..`"));
    }
    missing.0
}

/// Checks the telemetry that arrived at the collector.
pub(crate) fn of_telemetry(traces: &[Trace<'_>], received: &Received, outcome: &Outcome) -> Vec<String> {
    let mut missing = Missing::default();
    let of = |artifact| traces.iter().find(|trace: &&Trace<'_>| trace.loads(artifact));
    match of(super::SHOWN) {
        Some(shown) => shown_trace(&mut missing, shown, received),
        None => missing.0.push("the trace of a request".to_owned()),
    }
    let has = |artifact, what: &dyn Fn(&Span) -> bool| of(artifact).is_some_and(|trace| trace.spans().any(what));
    missing.unless(has("missing-weights", &|span| span.failed), || "a request that failed".into());
    let is_given_up = |span: &Span| span.is_cancelled() && span.process == SECOND;
    missing.unless(has("mixtral-8x7b", &is_given_up), || "a daemon that sees that its client gave up".into());
    let is_drained = |span: &Span| span.name == "StoreDaemon/LeaveFleet" && span.process == SECOND;
    missing.unless(received.spans.iter().any(is_drained), || "a daemon that drains and leaves".into());
    for (name, starts) in FAMILIES {
        missing.unless(!family(&received.series, starts).is_empty(), || format!("metrics of {name}"));
    }
    let (exported, arrived) = (outcome.total().exported, received.spans.len() as u64);
    missing.unless(exported == arrived, || format!("{exported} spans that were exported; {arrived} arrived"));
    missing.0
}

fn shown_trace(missing: &mut Missing, shown: &Trace<'_>, received: &Received) {
    missing.unless(shown.processes().len() == PROCESSES, || format!("a trace of {PROCESSES} processes"));
    missing.unless(shown.spans().filter(|span| span.parent_id.is_empty()).count() == 1, || "one root".into());
    missing.unless(stages_are_linked(shown), || "stages that are linked and not children of each other".into());
    missing.unless(shown.spans().any(|span| span.failed), || "an error in the trace".into());
    let shared = shown.spans().all(|span| span.attribute("tc.session.id").is_some());
    missing.unless(shared, || "the session on every span".into());
    let lines = shown.lines(received);
    let known = lines.iter().all(|line| shown.span(&line.span_id).is_some_and(|span| span.process == line.process));
    missing.unless(!lines.is_empty() && known, || "log lines that name their spans".into());
}

/// Each ingest span is linked to a verify span, and that to a fetch span.
fn stages_are_linked(trace: &Trace<'_>) -> bool {
    let before = |span: &Span| span.links.first().and_then(|id| trace.span(id));
    let mut ingested = trace.spans().filter(|span| span.name == "StoreEngine/P2PIngest").peekable();
    ingested.peek().is_some()
        && ingested.all(|ingest| {
            let Some(verify) = before(ingest) else { return false };
            let Some(fetch) = before(verify) else { return false };
            let apart = ingest.parent_id != verify.span_id && verify.parent_id != fetch.span_id;
            apart && verify.name == "StoreEngine/P2PVerify" && fetch.process == ingest.process
        })
}

#[derive(Default)]
struct Missing(Vec<String>);

impl Missing {
    fn unless(&mut self, seen: bool, what: impl FnOnce() -> String) {
        if !seen {
            self.0.push(what());
        }
    }
}
