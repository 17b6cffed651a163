//! Roots are sampled, children inherit, and what is not sampled is still a context for others.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, MutexGuard};

use tracecast::prelude::*;
use tracecast::testing::{Recording, RecordingConfig};
use tracecast::{Context, Sampler, SpanId, TraceId};

use crate::turn::{start_recording, turn};

#[tc_span("Sample/Root")]
fn root<R>(inside: impl FnOnce() -> R) -> R {
    inside()
}

#[tc_span("Sample/Child", attrs(tracecast::keys::size_bytes = evaluated()))]
fn child() {}

#[tc_span("Sample/AsyncChild")]
async fn async_child() {
    child();
}

static EVALUATED: AtomicU64 = AtomicU64::new(0);

fn evaluated() -> u64 {
    EVALUATED.fetch_add(1, Relaxed)
}

fn recording(sampler: Sampler) -> (MutexGuard<'static, ()>, Recording) {
    let turn = turn();
    EVALUATED.store(0, Relaxed);
    (turn, start_recording(RecordingConfig::default().with_sampler(sampler)))
}

#[test]
fn unsampled_children_are_not_recorded_nor_their_attributes_evaluated() {
    let (_turn, recording) = recording(Sampler::AlwaysOff);
    let before = recording.accounting();
    root(|| {
        child();
        futures::executor::block_on(async_child());
    });
    assert_eq!((recording.drain().len(), EVALUATED.load(Relaxed)), (0, 0));
    assert_eq!(recording.accounting(), before, "nothing ended, nothing is open");
}

#[test]
fn an_unsampled_trace_stays_unsampled_on_other_threads() {
    let (_turn, recording) = recording(Sampler::AlwaysOff);
    let (spawned, context) = root(|| (async_child(), Context::current()));
    recording.set_sampler(&Sampler::AlwaysOn);
    std::thread::spawn(move || {
        futures::executor::block_on(spawned);
        context.run(child);
    })
    .join()
    .unwrap();
    assert_eq!(recording.drain().len(), 0);
}

#[test]
fn an_unsampled_context_has_ids_for_the_wire() {
    let (_turn, _recording) = recording(Sampler::AlwaysOff);
    let (first, second) = root(|| (Context::current(), tracecast::current().context()));
    assert!(first.is_valid() && !first.is_sampled(), "{first:?}");
    assert_eq!((first.trace_id(), first.span_id()), (second.trace_id(), second.span_id()));
}

#[test]
fn a_sampled_remote_parent_is_followed_though_local_roots_are_not_sampled() {
    let (_turn, recording) = recording(Sampler::AlwaysOff);
    Context::remote(TraceId(7), SpanId(9), true).run(child);
    Context::remote(TraceId(7), SpanId(9), false).run(child);
    let spans = recording.drain();
    assert_eq!(spans.len(), 1);
    assert_eq!((spans[0].trace_id, spans[0].parent_span_id), (TraceId(7), Some(SpanId(9))));
    assert!(spans[0].parent_is_remote);
}

#[test]
fn a_ratio_records_its_share_of_whole_traces() {
    let (_turn, recording) = recording(Sampler::Ratio(0.25));
    let roots = if cfg!(miri) { 40 } else { 4_000 };
    (0..roots).for_each(|_| root(child));
    let spans = recording.drain();
    let children = spans.iter().filter(|span| span.name == "Sample/Child").count();
    assert_eq!(children * 2, spans.len(), "a trace is recorded whole or not at all");
    let share = children as f64 / f64::from(roots);
    assert!(cfg!(miri) || (0.2..0.3).contains(&share), "{share}");
}

#[test]
fn a_custom_sampler_is_asked_once_a_root_and_may_panic() {
    let asked = Arc::new(AtomicU64::new(0));
    let counter = asked.clone();
    let (_turn, recording) = recording(Sampler::Custom(Arc::new(move |root| {
        assert_eq!(root.name, "Sample/Root");
        if counter.fetch_add(1, Relaxed) == 1 {
            panic!("on purpose");
        }
        true
    })));
    root(child);
    root(child);
    assert_eq!((recording.drain().len(), asked.load(Relaxed)), (2, 2));
}
