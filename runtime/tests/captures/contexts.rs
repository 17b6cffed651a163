//! The context goes where the work goes: threads, channels, spawned tasks, blocking tasks, rayon.

use std::sync::mpsc;

use tracecast::prelude::*;
use tracecast::testing::{capture, capture_async};
use tracecast::{Context, Kind, Span};

#[tc_span("Context/Child")]
fn child() {}

#[tc_span("Context/Task")]
async fn task() {
    tokio::task::yield_now().await;
    child();
}

/// What may go to other threads, and be shared by them.
const _: () = {
    const fn may_be_sent_and_shared<T: Send + Sync + Clone>() {}
    const fn may_be_sent<T: Send>() {}
    may_be_sent_and_shared::<Context>();
    may_be_sent::<Span>();
};

#[test]
fn a_thread_gets_a_context() {
    let captured = capture(|| {
        let _root = tc_scope!("Context/Root");
        let context = tracecast::current().context();
        std::thread::spawn(context.wrap(child)).join().unwrap();
    });
    captured.assert_outline("Context/Root\n  Context/Child");
}

#[test]
fn a_context_through_a_channel_outlives_its_span() {
    let captured = capture(|| {
        let (send, receive) = mpsc::channel::<Context>();
        let worker = std::thread::spawn(move || receive.iter().for_each(|context| context.run(child)));
        {
            let _root = tc_scope!("Context/Root");
            send.send(Context::current()).unwrap();
            send.send(Context::current()).unwrap();
        }
        drop(send);
        worker.join().unwrap();
    });
    captured.assert_outline("Context/Root\n  Context/Child\n  Context/Child");
}

#[cfg(not(miri))] // tokio's threads are beyond it
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spawned_tasks_keep_their_parent() {
    let captured = capture_async(async || {
        let root = Span::builder("Context/Root", Kind::Internal).start();
        async {
            // An annotated function takes its parent when it is called.
            tokio::spawn(task()).await.unwrap();
            // Anything else is given one.
            tokio::spawn(async { child() }.in_current_span()).await.unwrap();
            let context = Context::current();
            tokio::task::spawn_blocking(context.wrap(child)).await.unwrap();
        }
        .in_span(root)
        .await;
    })
    .await;
    captured.assert_outline(
        "
        Context/Root
          Context/Task
            Context/Child
          Context/Child
          Context/Child
        ",
    );
    assert!(captured.outside_capture.is_empty(), "{:?}", captured.outside_capture);
}

#[test]
fn rayon_gets_a_context() {
    let captured = capture(|| {
        let _root = tc_scope!("Context/Root");
        let context = Context::current();
        rayon::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|_| context.run(child));
            }
        });
    });
    assert_eq!(captured.outline(), format!("Context/Root\n{}", "  Context/Child\n".repeat(4)));
}

#[test]
fn an_async_block_runs_in_a_scope() {
    let captured = capture(|| {
        futures::executor::block_on(async { child() }.in_span(tc_scope!("Context/Block")));
        child();
    });
    captured.assert_outline("Context/Block\n  Context/Child\nContext/Child");
}

#[test]
fn a_stream_runs_in_a_scope() {
    use futures::StreamExt as _;
    let captured = capture(|| {
        let stream = futures::stream::iter(0..2).map(|_| child());
        let stream = tracecast::StreamInSpan::stream_in_span(stream, tc_scope!("Context/Stream"));
        futures::executor::block_on(stream.collect::<Vec<_>>());
    });
    captured.assert_outline("Context/Stream\n  Context/Child\n  Context/Child");
}

#[test]
fn a_span_by_hand_has_parent_times_and_links() {
    let start = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000);
    let captured = capture(|| {
        let other = Span::builder("Context/Other", Kind::Producer).start();
        let mut span = Span::builder("Context/Made", Kind::Consumer)
            .with_parent(other.context())
            .with_start(start)
            .with_links([other.context()].as_slice())
            .start();
        span.in_scope(child);
        span.set(tracecast::keys::size_bytes, 7_u64);
        span.error("it broke");
        span.end_at(start + std::time::Duration::from_millis(1_500));
    });
    let made = captured.span("Context/Made");
    assert_eq!((made.start_time(), made.duration), (start, std::time::Duration::from_millis(1_500)));
    captured.assert_tree(
        "
        Context/Other [producer]
          Context/Made [consumer] error tc.size.bytes=7 error.type=str error.message=\"it broke\"
            ~ Context/Other
            Context/Child
        ",
    );
}

#[test]
fn a_span_may_end_on_another_thread() {
    let captured = capture(|| {
        let spans: Vec<_> = (0..100).map(|_| Span::builder("Context/Sent", Kind::Internal).start()).collect();
        std::thread::spawn(move || drop(spans)).join().unwrap();
    });
    assert_eq!(captured.spans_named("Context/Sent").len(), 100);
}

#[test]
fn shared_keys_are_on_every_span_below() {
    #[tc_span("Context/Session", share(tracecast::keys::tensor::artifact = id))]
    fn session(id: &str) {
        child();
        let context = Context::current();
        std::thread::spawn(move || context.run(child)).join().unwrap();
    }
    capture(|| {
        session("s1");
        child();
    })
    .assert_tree(
        "
        Context/Session tc.artifact.id=s1
          Context/Child tc.artifact.id=s1
          Context/Child tc.artifact.id=s1
        Context/Child
        ",
    );
}
