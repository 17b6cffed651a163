//! Records of idle threads are drained, those of threads that exit are flushed, and a thread at its very end is safe.

use std::cell::RefCell;
use std::sync::MutexGuard;
use std::sync::mpsc;

use tracecast::prelude::*;
use tracecast::testing::{Recording, RecordingConfig};

use crate::turn::{start_recording, turn};

#[tc_span("Thread/Work")]
fn work() {}

/// There is one recording in a process: the tests of this file take turns.
fn recording() -> (MutexGuard<'static, ()>, Recording) {
    let turn = turn();
    let recording = start_recording(RecordingConfig::default());
    (turn, recording)
}

#[test]
fn an_idle_thread_is_drained() {
    let (_turn, recording) = recording();
    let (worked, wait_for_work) = mpsc::channel();
    let (finish, wait_for_finish) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        work();
        worked.send(()).unwrap();
        wait_for_finish.recv().unwrap();
    });
    wait_for_work.recv().unwrap();
    assert_eq!(recording.drain().len(), 1, "the thread is alive and its chunk not full");
    finish.send(()).unwrap();
    thread.join().unwrap();
    assert_eq!(recording.drain().len(), 0);
}

#[test]
fn threads_that_exit_leave_all_their_records() {
    let (_turn, recording) = recording();
    let (threads, spans) = if cfg!(miri) { (4, 3) } else { (200, 37) };
    for _ in 0..threads {
        std::thread::spawn(move || (0..spans).for_each(|_| work())).join().unwrap();
    }
    assert_eq!(recording.drain().len(), threads * spans);
}

/// Ends a span in a destructor of thread-local storage, which runs before or after ours.
struct AtExit(RefCell<Option<tracecast::Span>>);

impl Drop for AtExit {
    fn drop(&mut self) {
        work();
        drop(self.0.take());
    }
}

thread_local! {
    static EARLY: AtExit = const { AtExit(RefCell::new(None)) };
    static LATE: AtExit = const { AtExit(RefCell::new(None)) };
}

#[test]
fn spans_in_destructors_of_thread_local_storage_are_recorded_or_counted() {
    let (_turn, recording) = recording();
    let before = recording.accounting();
    std::thread::spawn(|| {
        EARLY.with(|_| ());
        work();
        LATE.with(|at_exit| {
            *at_exit.0.borrow_mut() = Some(tracecast::Span::builder("Thread/Kept", tracecast::Kind::Internal).start());
        });
    })
    .join()
    .unwrap();
    let (seen, after) = (recording.drain().len() as u64, recording.accounting());
    // One in the thread, one in each destructor, and the one that was kept.
    assert_eq!(after.ended - before.ended, 4, "{after:?}");
    let dropped = after.dropped.thread_exit - before.dropped.thread_exit;
    assert_eq!(seen + dropped, 4, "{after:?}");
    assert_eq!(after.open, before.open);
}
