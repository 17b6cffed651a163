//! Every span is accounted for: 8 threads, a pool of two chunks, and a reader that is too slow for them.
//!
//! The first recording of a process fixes its capacity, so this is a program of its own.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tracecast::prelude::*;
use tracecast::testing::{Accounting, Recording, RecordingConfig};

const THREADS: u64 = 8;
const CALLS: u64 = if cfg!(miri) { 40 } else { 20_000 };

#[tc_span("Account/Work", attrs(tracecast::keys::size_bytes = n))]
fn work(n: u64) {
    let _inner = tc_scope!("Account/Inner");
}

#[track_caller]
fn assert_law(accounting: &Accounting) {
    let Accounting { ended, taken, buffered, dropped, .. } = *accounting;
    assert_eq!(ended, taken + buffered + dropped.total(), "{accounting:?}");
}

#[test]
fn with_two_chunks_for_eight_threads_and_a_slow_reader_the_law_holds() {
    let recording = Recording::start(RecordingConfig::default().with_capacity(2, 64)).unwrap();
    let (seen, half, done) =
        (AtomicU64::new(0), Barrier::new(THREADS as usize + 1), Barrier::new(THREADS as usize + 1));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                (0..CALLS / 2).for_each(work);
                half.wait();
                (0..CALLS / 2).for_each(work);
                done.wait();
            });
        }
        // The first half runs without a reader: two chunks cannot hold it.
        half.wait();
        let midway = recording.accounting();
        assert!(midway.dropped.span_buffer_full > 0, "{midway:?}");
        assert_eq!(midway.dropped.too_many_open_spans, 0, "{midway:?}");
        // The second half races with one.
        for _ in 0..50 {
            seen.fetch_add(recording.drain().len() as u64, Relaxed);
        }
        done.wait();
    });
    let at_rest = recording.accounting();
    assert_law(&at_rest);
    assert_eq!((at_rest.ended, at_rest.open), (THREADS * (CALLS / 2) * 2 * 2, 0));
    assert_eq!(at_rest.taken, seen.load(Relaxed));

    // What is left comes out, and is what was said to be buffered.
    assert_eq!(recording.drain().len() as u64, at_rest.buffered);
    let empty = recording.accounting();
    assert_law(&empty);
    assert_eq!(empty.buffered, 0);
}
