//! A capture sees the spans of its own test, also when others run at the same time and on several threads.

use tracecast::prelude::*;
use tracecast::testing::{capture, capture_async};

#[tc_span("Capture/Work", attrs(tracecast::keys::size_bytes = n))]
fn work(n: u64) {}

#[tc_span("Capture/Task", attrs(tracecast::keys::size_bytes = n))]
async fn task(n: u64) {
    work(n);
}

#[test]
fn captures_on_parallel_threads_see_their_own_spans() {
    let threads: Vec<_> = (0..8_u64)
        .map(|n| {
            std::thread::spawn(move || {
                for _ in 0..if cfg!(miri) { 2 } else { 100 } {
                    let captured = capture(|| (work(n), work(n)));
                    captured.assert_tree(&format!("Capture/Work tc.size.bytes={n}\nCapture/Work tc.size.bytes={n}"));
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[cfg(not(miri))] // tokio's threads are beyond it
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn captures_on_one_runtime_see_their_own_spans() {
    let all = (0..16_u64).map(|n| async move {
        let captured = capture_async(async || {
            let tasks: Vec<_> = (0..4).map(|_| tokio::spawn(task(n))).collect();
            for task in tasks {
                task.await.unwrap();
            }
        })
        .await;
        let expected = format!("Capture/Task tc.size.bytes={n}\n  Capture/Work tc.size.bytes={n}\n").repeat(4);
        captured.assert_tree(&expected);
    });
    futures::future::join_all(all).await;
}

#[test]
fn work_in_no_context_is_outside_the_capture() {
    let captured = capture(|| std::thread::spawn(|| work(1)).join().unwrap());
    assert!(captured.spans.is_empty());
    assert!(captured.outside_capture.contains(&"Capture/Work"), "{:?}", captured.outside_capture);
}

#[test]
fn a_capture_ends_with_a_panic_too() {
    let caught = std::panic::catch_unwind(|| {
        capture(|| {
            work(1);
            panic!("on purpose");
        })
    });
    assert!(caught.is_err());
    capture(|| work(2)).assert_tree("Capture/Work tc.size.bytes=2");
}

#[test]
fn an_assertion_says_what_is_missing() {
    let captured = capture(|| work(3));
    let text = |f: &(dyn Fn() + std::panic::RefUnwindSafe)| {
        let panic = std::panic::catch_unwind(f).unwrap_err();
        panic.downcast_ref::<String>().unwrap().clone()
    };
    let captured = std::panic::AssertUnwindSafe(captured);
    let missing = text(&|| drop(captured.span("Capture/Other").clone()));
    assert_eq!(
        missing,
        "no span `Capture/Other` was captured; the captured spans are:\nCapture/Work tc.size.bytes=3\n"
    );
    let different = text(&|| captured.assert_outline("Capture/Work\nCapture/Other"));
    assert!(
        different
            .starts_with("the spans differ\nexpected:\n  Capture/Work\n- Capture/Other\ncaptured:\n  Capture/Work\n"),
        "{different}"
    );
}
