//! Spans that begin on one thread and end on another: ids, blocks and counts stay right.
//!
//! The first recording of a process fixes its capacity, so this is a program of its own; in it tests take turns.

use std::sync::mpsc;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use tracecast::prelude::*;
use tracecast::testing::{Recording, RecordingConfig};
use tracecast::{Context, Filter, Kind, Span};

#[tc_span("Elsewhere/Task")]
async fn task() {
    leaf();
}

#[tc_span("Elsewhere/Large", attrs(tracecast::keys::tensor::artifact = &text))]
async fn large(text: String) {
    drop(text);
}

#[tc_span("Elsewhere/Leaf")]
fn leaf() {}

const BLOCKS: usize = 256;

fn recording() -> (MutexGuard<'static, ()>, Recording) {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let recording = Recording::start(RecordingConfig::default().with_capacity(64, BLOCKS)).unwrap();
    recording.drain();
    (turn, recording)
}

#[test]
fn threads_that_begin_by_finishing_other_s_work_have_ids_of_their_own() {
    let (_turn, recording) = recording();
    for _ in 0..3 {
        let foreign = task();
        std::thread::spawn(move || {
            futures::executor::block_on(foreign);
            leaf();
        })
        .join()
        .unwrap();
    }
    let spans = recording.drain();
    let mut ids: Vec<_> = spans.iter().map(|span| span.span_id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((spans.len(), ids.len()), (9, 9), "each span has an id of its own");
}

/// Makes futures here and runs them on another thread, one at a time.
fn run_elsewhere(count: usize, make: impl Fn() -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>>) {
    let (send, receive) = mpsc::channel::<std::pin::Pin<Box<dyn Future<Output = ()> + Send>>>();
    let (done, wait) = mpsc::channel();
    let consumer = std::thread::spawn(move || {
        for future in receive {
            futures::executor::block_on(future);
            done.send(()).unwrap();
        }
        // Keeps its blocks until the producer has counted.
        done
    });
    for _ in 0..count {
        send.send(make()).unwrap();
        wait.recv().unwrap();
    }
    drop(send);
    drop(consumer.join().unwrap());
}

#[test]
fn blocks_come_back_however_many_spans_end_elsewhere() {
    let (_turn, recording) = recording();
    let before = recording.accounting();
    let rounds = if cfg!(miri) { 4 } else { BLOCKS * 8 };
    run_elsewhere(rounds, || Box::pin(task()));
    run_elsewhere(rounds, || Box::pin(large("x".repeat(1000))));
    recording.drain();
    let after = recording.accounting();
    assert_eq!(after.dropped.too_many_open_spans, before.dropped.too_many_open_spans, "{after:?}");
    assert_eq!(after.open, before.open);
}

#[test]
fn blocks_come_back_to_a_thread_that_made_them_before() {
    let (_turn, recording) = recording();
    let before = recording.accounting();
    // This thread gives spans away, and then takes as many from another one.
    let (count, kind) = (if cfg!(miri) { 16 } else { BLOCKS * 4 }, Kind::Internal);
    for _ in 0..count / 16 {
        let spans: Vec<_> = (0..16).map(|_| Span::builder("Elsewhere/Sent", kind).start()).collect();
        std::thread::spawn(move || drop(spans)).join().unwrap();
        recording.drain();
    }
    for _ in 0..count / 16 {
        let made = std::thread::spawn(move || {
            (0..16).map(|_| Span::builder("Elsewhere/Sent", kind).start()).collect::<Vec<_>>()
        });
        drop(made.join().unwrap());
        recording.drain();
    }
    let after = recording.accounting();
    assert_eq!(after.dropped.too_many_open_spans, before.dropped.too_many_open_spans, "{after:?}");
}

#[test]
fn a_filtered_task_takes_its_parent_along() {
    let (_turn, recording) = recording();
    recording.set_filter("Elsewhere/Task=off".parse::<Filter>().unwrap());
    let filtered = {
        let _parent = tc_scope!("Elsewhere/Parent");
        task()
    };
    std::thread::spawn(|| futures::executor::block_on(filtered)).join().unwrap();
    let spans = recording.drain();
    let find = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
    assert_eq!(spans.len(), 2);
    assert_eq!(find("Elsewhere/Leaf").parent_span_id, Some(find("Elsewhere/Parent").span_id));
}

#[test]
fn the_end_of_one_span_is_not_that_of_the_next_in_its_block() {
    let (_turn, recording) = recording();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
    let begun = |start| Span::builder("Elsewhere/Timed", Kind::Internal).with_start(start).start();
    begun(long_ago).end_at(long_ago + Duration::from_secs(1));
    begun(SystemTime::now() - Duration::from_secs(3)).end();
    let spans = recording.drain();
    assert_eq!(spans[0].duration, Duration::from_secs(1));
    assert!(spans[1].duration >= Duration::from_secs(3), "{:?}", spans[1].duration);
}

#[test]
fn captured_spans_that_end_elsewhere_are_not_the_recorder_s() {
    let (_turn, recording) = recording();
    let before = recording.accounting();
    let captured = tracecast::testing::capture(|| {
        let span = Span::builder("Elsewhere/Captured", Kind::Internal).start();
        std::thread::spawn(move || drop(span)).join().unwrap();
    });
    assert_eq!(captured.spans.len(), 1);
    assert_eq!(recording.accounting(), before);
}

#[test]
fn a_filter_ends_with_its_recording() {
    let (_turn, recording) = recording();
    recording.set_filter("*=off".parse::<Filter>().unwrap());
    drop(recording);
    tracecast::testing::capture(leaf).assert_tree("Elsewhere/Leaf");
}

#[tc_span("Elsewhere/Nested")]
fn nested(depth: usize) {
    if depth > 1 {
        nested(depth - 1);
    }
}

#[test]
fn a_thread_that_recursed_deeply_returns_its_surplus_blocks() {
    let (_turn, recording) = recording();
    let (recursed, wait_for_recursion) = mpsc::channel();
    let (finish, wait_for_finish) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        nested(BLOCKS - 40);
        recursed.send(()).unwrap();
        wait_for_finish.recv().unwrap();
    });
    wait_for_recursion.recv().unwrap();
    let before = recording.accounting();
    // The other thread is alive and idle.
    nested(BLOCKS - 100);
    let after = recording.accounting();
    assert_eq!(after.dropped.too_many_open_spans, before.dropped.too_many_open_spans, "{after:?}");
    finish.send(()).unwrap();
    thread.join().unwrap();
}

/// Stackful coroutines: spans that are suspended on one stack while others end on another.
#[cfg(not(miri))]
mod coroutines {
    use corosensei::{Coroutine, CoroutineResult};

    use super::*;

    #[tc_span("Coroutine/Inner")]
    fn inner(yielder: &corosensei::Yielder<(), ()>) {
        yielder.suspend(());
        leaf();
    }

    #[tc_span("Coroutine/Outer")]
    fn outer(coroutine: &mut Coroutine<(), (), ()>) {
        coroutine.resume(());
    }

    fn ends_on_another_thread() {
        let span = Span::builder("Coroutine/Elsewhere", Kind::Internal).start();
        std::thread::spawn(move || drop(span)).join().unwrap();
    }

    fn suspended_in_a_span() -> Coroutine<(), (), ()> {
        Coroutine::new(|yielder, ()| inner(yielder))
    }

    #[test]
    fn a_span_that_outlives_the_one_around_it_brings_nothing_back() {
        let (_turn, recording) = recording();
        let before = recording.accounting();
        for _ in 0..100 {
            let mut coroutine = suspended_in_a_span();
            outer(&mut coroutine);
            assert!(matches!(coroutine.resume(()), CoroutineResult::Return(())));
            ends_on_another_thread();
            ends_on_another_thread();
            leaf();
            let spans = recording.drain();
            let roots = spans.iter().filter(|span| span.parent_span_id.is_none()).count();
            // Outer, both that ended elsewhere, and both leaves: inside the suspended span nothing is current any more.
            assert_eq!((spans.len(), roots), (6, 5), "{spans:?}");
        }
        let after = recording.accounting();
        assert_eq!((after.open, after.dropped), (0, before.dropped), "{after:?}");
        assert_eq!(after.cut_off - before.cut_off, 100, "{after:?}");
    }

    #[test]
    fn coroutines_that_take_turns_leave_nothing_current() {
        let (_turn, recording) = recording();
        let before = recording.accounting();
        let mut seed = 11_u64;
        let mut random = |n: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % n
        };
        let mut made = 0;
        let mut running: Vec<Coroutine<(), (), ()>> = Vec::new();
        for _ in 0..2_000 {
            if running.len() < 2 || random(3) == 0 && running.len() < 32 {
                let mut coroutine = Coroutine::new(|yielder, ()| {
                    inner(yielder);
                    let mut span = Span::builder("Coroutine/Entered", Kind::Internal).start();
                    span.in_scope(|| yielder.suspend(()));
                    let _attached = span.context().attach();
                    let _scope = tc_scope!("Coroutine/Scope");
                    yielder.suspend(());
                });
                coroutine.resume(());
                running.push(coroutine);
                made += 1;
            }
            let at = random(running.len());
            if running[at].done() || matches!(running[at].resume(()), CoroutineResult::Return(())) {
                running.swap_remove(at);
            }
        }
        // The rest is unwound where it was suspended.
        drop(running);
        ends_on_another_thread();
        assert!(!Context::current().is_valid(), "nothing is current");
        let after = recording.accounting();
        assert_eq!((after.open, after.dropped), (0, before.dropped), "{after:?}");
        let spans = recording.drain();
        assert_eq!(spans.iter().filter(|span| span.name == "Coroutine/Inner").count(), made);
    }
}
