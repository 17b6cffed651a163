//! The body uses what it has moved: the error is the compiler's own, with nothing of ours in it.
use tracecast::prelude::*;

struct Call {
    id: String,
}

#[tc_span("Moves/Sync")]
fn sync(id: String) -> usize {
    drop(id);
    id.len()
}

#[tc_span("Moves/Field")]
fn field(call: Call) -> usize {
    drop(call.id);
    call.id.len()
}

#[tc_span("Moves/Async")]
async fn asynchronous(call: Call) -> usize {
    drop(call.id);
    call.id.len()
}

fn main() {}
