//! Where the user has a subscriber, it stays; ours is not installed, and says so.

use tracecast::__logs::{Options, TestLogs, is_installed};
use tracing_subscriber::layer::SubscriberExt;

use crate::child::is_alone;

#[test]
fn the_users_subscriber_stays_and_needs_the_layer() {
    if !is_alone(module_path!(), "the_users_subscriber_stays_and_needs_the_layer") {
        return;
    }
    let subscriber = tracing_subscriber::registry().with(tracecast::logs::layer());
    tracing::subscriber::set_global_default(subscriber).unwrap();
    for _ in 0..2 {
        let logs = TestLogs::start(Options { filter: "info", install: true, ..Options::default() });
        assert_eq!(is_installed(), (false, true));
        tracing::info!("tracing");
        tracing::debug!("tracing");
        log::info!("log");
        let records: Vec<_> = logs.records().into_iter().map(|record| record.body).collect();
        assert_eq!(records, ["tracing", "log"], "each once");
    }
}
