use std::future::{Future, Ready, ready};

use tracecast::tc_span;

type Size = Ready<u64>;
type LoadResult = Ready<Result<u64, std::io::Error>>;

#[tc_span("StoreDaemon/Size")]
fn size() -> Size {
    ready(4)
}

#[tc_span("StoreDaemon/Load")]
fn load() -> LoadResult {
    ready(Ok(4))
}

trait Store {
    type Loading: Future<Output = u64>;
    fn loading(&self) -> Self::Loading;

    #[tc_span("StoreDaemon/Load")]
    fn load(&self) -> Self::Loading {
        self.loading()
    }
}

#[tc_span("StoreDaemon/Pass", no_err)]
fn pass<F: Future>(future: F) -> F {
    future
}

// Its work runs already, or the construction is meant.
#[tc_span("StoreDaemon/Size", construct)]
fn constructed() -> Size {
    ready(4)
}

fn main() {
    drop((size(), load(), pass(constructed())));
}
