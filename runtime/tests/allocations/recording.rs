//! On the way of a recorded span nothing is allocated: not for attributes, not for text, not for events and links.

use tracecast::Context;
use tracecast::prelude::*;
use tracecast::testing::RecordingConfig;

use crate::counting::ALLOCATIONS;
use crate::turn::{start_recording, turn};

tracecast::tc_keys! {
    /// Texts.
    pub id names: [str] = "test.names";
    /// Numbers.
    pub measure numbers: [i64] = "test.numbers";
}

const UUID: &str = "1b4e28ba-2fa1-11d2-883f-0016d3cca427";

#[tc_span("Alloc/Work", attrs(tracecast::keys::tensor::artifact = first, tracecast::keys::tensor::replica = second, tracecast::keys::device = 3_u32, names = [first, second], "test.sizes" = &[1_usize, u64::MAX as usize]))]
fn work(first: &str, second: &str) -> Result<u64, std::fmt::Error> {
    tracecast::current().event_with("step", |event| event.set(tracecast::keys::size_bytes, 1_u64));
    tracecast::current().link(Context::current());
    tracecast::current().set(numbers, [7; 100]);
    if first.is_empty() { Err(std::fmt::Error) } else { Ok(1) }
}

#[tc_span("Alloc/Async")]
async fn work_async() {
    let _ = work(UUID, UUID);
}

#[tc_span("Alloc/Root")]
fn root(calls: u32) {
    for _ in 0..calls {
        let _ = (work(UUID, UUID), work("", "failing"));
        futures::executor::block_on(work_async());
        let _scope = tc_scope!("Alloc/Scope", attrs(tracecast::keys::size_bytes = 1_u64));
        Context::current().run(|| ());
    }
}

#[test]
fn a_thousand_spans_make_no_allocation() {
    let _turn = turn();
    let recording = start_recording(RecordingConfig::default());
    // The first use of a thread registers it.
    root(2);
    let before = ALLOCATIONS.get();
    root(200);
    assert_eq!(ALLOCATIONS.get() - before, 0);
    assert_eq!(recording.drain().len(), 202 * 5 + 2);
    assert_eq!(recording.accounting().dropped.total(), 0);
}
