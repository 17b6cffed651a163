//! What the tests of function shapes share: one check of a value and its spans, and a log of drops.

#![allow(dead_code, reason = "each test crate uses a part of it")]

use std::cell::RefCell;
use std::fmt::Debug;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::executor::block_on;
use tracecast::testing::{FinishedSpan, capture};

/// Runs `f`; it must return `value` and leave exactly the spans of `tree`.
#[track_caller]
pub(crate) fn check<R: PartialEq + Debug>(f: impl FnOnce() -> R, value: R, tree: &str) {
    let captured = capture(f);
    captured.assert_tree(tree);
    assert_eq!(captured.value, value);
}

/// As [`check`], for what a future gives. The future is made inside of the capture too.
#[track_caller]
pub(crate) fn check_async<F: Future>(f: impl FnOnce() -> F, value: F::Output, tree: &str)
where
    F::Output: PartialEq + Debug,
{
    let captured = capture(|| block_on(f()));
    captured.assert_tree(tree);
    assert_eq!(captured.value, value);
}

/// Runs `f`, which must panic and leave exactly the spans of `tree`.
#[track_caller]
pub(crate) fn check_panic<R>(f: impl FnOnce() -> R, tree: &str) {
    let captured = capture(|| catch_unwind(AssertUnwindSafe(f)).map(drop));
    captured.assert_tree(tree);
    assert!(captured.value.is_err(), "it did not panic");
}

/// Only compiles for futures and values that may go to another thread.
pub(crate) fn send<T: Send>(value: T) -> T {
    value
}

/// Whether `inner` began and ended during `outer`.
pub(crate) fn within(inner: &FinishedSpan, outer: &FinishedSpan) -> bool {
    outer.start_time() <= inner.start_time() && inner.end_time() <= outer.end_time()
}

thread_local!(static LOG: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) });

/// Notes that something happened.
pub(crate) fn note(what: &'static str) {
    LOG.with_borrow_mut(|log| log.push(what));
}

/// What this thread noted since the last call.
pub(crate) fn noted() -> Vec<&'static str> {
    LOG.take()
}

/// Notes its name when it is dropped.
pub(crate) struct Noisy(pub(crate) &'static str);

impl Drop for Noisy {
    fn drop(&mut self) {
        note(self.0);
    }
}
