//! Shared keys that are declared for logs are fields of the lines below them.

use tracecast::Context;
use tracecast::prelude::*;
use tracecast::testing::{capture, record_logs};

tracecast::tc_keys! {
    /// The session of a user.
    pub id session: str = "tc.session.id" { baggage, logs };
    /// How many tensors it asks for.
    pub measure wanted: u64 = "tc.wanted" { logs };
    /// Its tags.
    pub id tags: [str] = "tc.tags" { logs };
    /// The training run.
    pub id run: str = "tc.run.id";
}

#[tc_span("Gateway/Serve", share(session = id, wanted = 3, run = "r-7"))]
fn serve(id: &str) {
    tracing::info!(target: "gateway", "served");
    tracing::info!(target: "gateway", { tc.session.id = "own" }, "served");
}

#[test]
fn they_are_on_lines_if_they_are_declared_so() {
    record_logs();
    let captured = capture(|| {
        tracing::info!(target: "gateway", "before");
        serve("s-1");
        Context::current().with_shared(session, "s-2").run(|| log::warn!(target: "gateway", "by hand"));
        let baggage = Context::current().with_baggage("tc.session.id", "s-3").unwrap();
        baggage.with_shared_baggage(session).run(|| tracing::info!(target: "gateway", "from baggage"));
        let listed = Context::current().with_shared(tags, ["a b", "c"]);
        listed.run(|| tracing::info!(target: "gateway", "with a list"));
        baggage.with_shared_baggage(run).run(|| tracing::info!(target: "gateway", "not in the baggage"));
    });
    captured.assert_logs(
        "
        INFO gateway: before
        INFO gateway: served tc.session.id=s-1 tc.wanted=3
        INFO gateway: served tc.session.id=own tc.wanted=3
        WARN gateway: by hand tc.session.id=s-2
        INFO gateway: from baggage tc.session.id=s-3
        INFO gateway: with a list tc.tags=[\"a b\", c]
        INFO gateway: not in the baggage
        ",
    );
}
