//! Whose child a span is: parents are taken at the call, `parent`, `links`, `share` and `needs_parent`.

use std::sync::mpsc;
use std::thread;

use futures::executor::block_on;
use tracecast::prelude::*;
use tracecast::testing::{capture, capture_async};
use tracecast::{Context, keys};

use crate::support::{check, within};

#[tc_span("Parent/Leaf")]
fn leaf() {}

#[tc_span("Parent/AsyncLeaf")]
async fn async_leaf() {
    tokio::task::yield_now().await;
    leaf();
}

#[tc_span("Parent/Context")]
fn context() -> Context {
    Context::current()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spawned_call_keeps_its_parent() {
    #[tc_span("Parent/Spawns")]
    async fn spawns() {
        let task = tokio::spawn(async_leaf());
        task.await.unwrap();
    }

    let captured = capture_async(spawns).await;
    captured.assert_outline(
        "
        Parent/Spawns
          Parent/AsyncLeaf
            Parent/Leaf
        ",
    );
    let [spawns, task] = ["Parent/Spawns", "Parent/AsyncLeaf"].map(|name| captured.span(name));
    assert!(within(task, spawns) && within(captured.span("Parent/Leaf"), task));
}

#[test]
fn the_parent_is_that_of_the_call_and_not_of_the_poll() {
    fn calls() -> impl Future<Output = ()> {
        let _scope = tc_scope!("Parent/Scope");
        async_leaf()
    }

    let captured = capture(|| {
        let future = calls();
        let _polls = tc_scope!("Parent/Polls");
        block_on(future);
    });
    captured.assert_outline(
        "
        Parent/Scope
          Parent/AsyncLeaf
            Parent/Leaf
        Parent/Polls
        ",
    );
}

#[test]
fn a_future_that_is_not_polled_makes_no_span() {
    check(|| drop(async_leaf()), (), "");
}

#[test]
fn synchronous_calls_nest() {
    #[tc_span("Parent/Outer")]
    fn outer() {
        leaf();
        let _scope = tc_scope!("Parent/Scope", attrs(keys::size_bytes = 1_u8), kind = server);
        leaf();
    }

    let tree = "
        Parent/Outer
          Parent/Leaf
          Parent/Scope [server] tc.size.bytes=1
            Parent/Leaf
    ";
    check(outer, (), tree);
}

#[test]
fn other_threads_are_given_a_context() {
    #[tc_span("Parent/Thread")]
    fn on_a_thread() {
        let wrapped = Context::current().wrap(leaf);
        thread::spawn(wrapped).join().unwrap();
    }

    check(on_a_thread, (), "Parent/Thread\n  Parent/Leaf");
}

#[test]
fn an_explicit_parent_wins() {
    #[tc_span("Parent/Explicit", parent = parent)]
    fn explicit(parent: &Context) {
        leaf();
    }

    #[tc_span("Parent/AsyncExplicit", parent = parent.clone())]
    async fn async_explicit(parent: Context) -> bool {
        parent.is_valid()
    }

    #[tc_span("Parent/Root", parent = None::<Context>)]
    fn root() {}

    let captured = capture(|| {
        let context = context();
        let _other = tc_scope!("Parent/Other");
        explicit(&context);
        root();
        block_on(async_explicit(context))
    });
    assert!(captured.value, "the body still has its argument");
    captured.assert_outline(
        "
        Parent/Context
          Parent/Explicit
            Parent/Leaf
          Parent/AsyncExplicit
        Parent/Other
        Parent/Root
        ",
    );
}

#[test]
fn links() {
    #[tc_span("Parent/Linked", links(first, others, None::<Context>))]
    fn linked(first: &Context, others: &[Context]) {}

    #[tc_span("Parent/AsyncLinked", links(&cause))]
    async fn async_linked(cause: Context) -> bool {
        cause.is_valid()
    }

    #[tc_span("Parent/Stage")]
    fn stage() -> Context {
        Context::current()
    }

    let captured = capture(|| {
        let (first, second) = (context(), stage());
        linked(&first, &[second.clone(), Context::default()]);
        block_on(async_linked(second))
    });
    assert!(captured.value);
    captured.assert_tree(
        "
        Parent/Context
        Parent/Stage
        Parent/Linked
          ~ Parent/Context
          ~ Parent/Stage
        Parent/AsyncLinked
          ~ Parent/Stage
        ",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shared_keys_are_on_every_span_below() {
    #[tc_span("Parent/Session", share(keys::tensor::artifact = id))]
    async fn session(id: &str) -> usize {
        tokio::spawn(async_leaf()).await.unwrap();
        id.len()
    }

    #[tc_span("Parent/Around")]
    async fn around() {
        session("s1").await;
        leaf();
    }

    capture_async(around).await.assert_tree(
        "
        Parent/Around
          Parent/Session tc.artifact.id=s1
            Parent/AsyncLeaf tc.artifact.id=s1
              Parent/Leaf tc.artifact.id=s1
          Parent/Leaf
        ",
    );
}

#[test]
fn a_span_that_needs_a_parent_is_no_root() {
    #[tc_span("Parent/Needs", needs_parent)]
    fn needs() -> u8 {
        leaf();
        1
    }

    #[tc_span("Parent/AsyncNeeds", needs_parent)]
    async fn async_needs() {}

    #[tc_span("Parent/Has")]
    fn has() {
        needs();
        block_on(async_needs());
    }

    check(needs, 1, "Parent/Leaf");
    check(|| block_on(async_needs()), (), "");
    let tree = "
        Parent/Has
          Parent/Needs
            Parent/Leaf
          Parent/AsyncNeeds
    ";
    check(has, (), tree);
}

#[test]
fn a_context_travels_through_a_channel() {
    #[tc_span("Parent/Sends")]
    fn sends(jobs: &mpsc::Sender<Context>) {
        jobs.send(Context::current()).unwrap();
    }

    let captured = capture(|| {
        let (jobs, received) = mpsc::channel::<Context>();
        let worker = thread::spawn(move || received.iter().for_each(|context| context.run(leaf)));
        sends(&jobs);
        drop(jobs);
        worker.join().unwrap();
    });
    captured.assert_outline("Parent/Sends\n  Parent/Leaf");
}
