//! Spans that begin on one thread and end on another: ids, blocks and counts stay right.

use std::sync::mpsc;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use tracecast::prelude::*;
use tracecast::{Capacity, Filter, Kind, Recording, RecordingConfig, Span};

#[tc_span("Elsewhere/Task")]
async fn task() {
    leaf();
}

#[tc_span("Elsewhere/Large", attrs(tracecast::keys::artifact = &text))]
async fn large(text: String) {
    drop(text);
}

#[tc_span("Elsewhere/Leaf")]
fn leaf() {}

const BLOCKS: usize = 256;

fn recording() -> (MutexGuard<'static, ()>, Recording) {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let capacity = Capacity { chunks: 64, blocks: BLOCKS };
    let recording = Recording::start(RecordingConfig { capacity, ..RecordingConfig::default() }).unwrap();
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
    assert_eq!(after.dropped.no_block, before.dropped.no_block, "{after:?}");
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
    assert_eq!(after.dropped.no_block, before.dropped.no_block, "{after:?}");
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
