//! Values, labels, closures and samplers are the user's code, and may do anything: end the span, record on it, panic.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::sync::{Arc, MutexGuard};

use tracecast::keys::{size_bytes, tensor::artifact};
use tracecast::prelude::*;
use tracecast::testing::{Recording, RecordingConfig, capture};
use tracecast::{Label, Sampler, Scope, Static, current};

use crate::turn::{start_recording, turn};

fn recording(sampler: Sampler) -> (MutexGuard<'static, ()>, Recording) {
    let turn = turn();
    (turn, start_recording(RecordingConfig::default().with_sampler(sampler)))
}

#[test]
fn an_event_whose_closure_ends_the_span_is_no_event() {
    let _turn = turn();
    capture(|| {
        let scope = tc_scope!("User/Ended");
        current().event_with("event", |event| {
            drop(scope);
            let _other = tc_scope!("User/Other", attrs(size_bytes = 1_u64, artifact = Static("kept")));
            event.set(size_bytes, 7_u64);
        });
    })
    .assert_tree(
        "
        User/Ended
        User/Other tc.size.bytes=1 tc.artifact.id=kept
        ",
    );
}

#[test]
fn what_is_recorded_inside_an_event_is_the_span_s() {
    let _turn = turn();
    capture(|| {
        let _scope = tc_scope!("User/Span");
        current().event_with("outer", |event| {
            current().set(artifact, "span's");
            current().event("inner");
            event.set(size_bytes, 7_u64);
        });
    })
    .assert_tree(
        "
        User/Span tc.artifact.id=span's
          - inner
          - outer tc.size.bytes=7
        ",
    );
}

/// Ends a scope when it is shown.
struct Ends(RefCell<Option<Scope>>);

impl fmt::Display for Ends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        drop(self.0.take());
        f.write_str("shown")
    }
}

#[test]
fn a_value_that_ends_the_span_is_recorded_on_the_one_around_it() {
    let _turn = turn();
    capture(|| {
        let _outer = tc_scope!("User/Outer");
        let inner = tc_scope!("User/Inner");
        current().set(artifact, tracecast::display(Ends(RefCell::new(Some(inner)))));
        let inner = tc_scope!("User/Inner");
        current().error(&Ends(RefCell::new(Some(inner))));
    })
    .assert_tree(
        "
        User/Outer error tc.artifact.id=shown error.type=recording::user_code::Ends error.message=shown
          User/Inner
          User/Inner
        ",
    );
}

/// A label that was written by hand, badly.
#[derive(Clone, Copy)]
pub struct Broken;

impl Label for Broken {
    const CARDINALITY: usize = 1;

    fn ordinal(self) -> usize {
        0
    }

    fn value(_: usize) -> Cow<'static, str> {
        panic!("on purpose")
    }
}

mod keys {
    tracecast::tc_keys! {
        /// Panics when it is read.
        pub label broken: super::Broken = "test.broken";
    }
}

#[test]
fn a_label_that_panics_costs_its_own_text_and_nothing_else() {
    let (_turn, recording) = recording(Sampler::AlwaysOn);
    {
        let _shared = tc_scope!("User/Shared", share(artifact = "shared"));
        let _broken = tc_scope!("User/Broken", attrs(keys::broken = Broken));
    }
    let spans = recording.drain();
    assert_eq!(spans.len(), 2);
    assert_eq!(spans[0].attribute("test.broken").unwrap().to_string(), "?");
    assert_eq!(spans[0].attribute("tc.artifact.id").unwrap().to_string(), "shared");
    assert!(recording.drain().is_empty());
}

#[test]
fn a_sampler_that_makes_spans_is_not_asked_about_them() {
    let sampler = Sampler::Custom(Arc::new(|_| {
        let _scope = tc_scope!("User/Sampler");
        true
    }));
    let (_turn, recording) = recording(sampler);
    drop(tc_scope!("User/Sampled"));
    let names: Vec<_> = recording.drain().iter().map(|span| span.name.to_string()).collect();
    assert_eq!(names, ["User/Sampled"]);
}

/// A future whose destructor panics.
struct Bad;

impl Future for Bad {
    type Output = ();

    fn poll(self: std::pin::Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<()> {
        std::task::Poll::Pending
    }
}

impl Drop for Bad {
    fn drop(&mut self) {
        panic!("on purpose");
    }
}

#[test]
fn a_future_whose_destructor_panics_ends_its_span() {
    let (_turn, recording) = recording(Sampler::AlwaysOn);
    let before = recording.accounting();
    let caught = std::panic::catch_unwind(|| {
        let mut future = Box::pin(Bad.in_span(tc_scope!("User/Bad")));
        let mut task = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(future.as_mut().poll(&mut task).is_pending());
    });
    assert!(caught.is_err());
    let (spans, after) = (recording.drain(), recording.accounting());
    assert_eq!((spans.len(), after.open), (1, before.open), "{spans:?}");
    assert_eq!(spans[0].outcome, tracecast::Outcome::Cancelled);
}

#[test]
fn a_result_closure_that_panics_is_a_panic_of_the_span() {
    let _turn = turn();
    #[tc_span("User/Result", result(size_bytes = |_| boom()))]
    fn with_result() -> u64 {
        1
    }
    fn boom() -> u64 {
        panic!("on purpose")
    }
    let captured = capture(|| std::panic::catch_unwind(with_result).is_err());
    assert!(captured.value);
    captured.assert_tree("User/Result panicked");
}

/// Makes a root when it is dropped.
struct Leaves;

impl Drop for Leaves {
    fn drop(&mut self) {
        let _scope = tc_scope!("User/LastRoot");
    }
}

#[test]
fn a_sampler_that_is_replaced_may_make_spans_when_it_is_dropped() {
    let (leaves, (tell, told)) = (Leaves, std::sync::mpsc::channel());
    let sampler = move |_: &tracecast::Root<'_>| {
        let _kept = &leaves;
        false
    };
    let (_turn, recording) = recording(Sampler::Custom(Arc::new(sampler)));
    std::thread::spawn(move || {
        recording.set_sampler(&Sampler::AlwaysOn);
        tell.send(recording).unwrap();
    });
    let recording = told.recv_timeout(std::time::Duration::from_secs(20)).expect("it hangs");
    assert_eq!(recording.drain().len(), 1);
}
