//! A service whose metrics are scraped, not exported: run it with `OTEL_METRICS_EXPORTER=prometheus` and open
//! <http://localhost:9464/metrics>. It runs until its standard input ends.

use std::io::Read;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use tracecast::keys::tensor::{SourceType, source};
use tracecast::prelude::*;

tc_metrics! {
    /// Bytes of replicas that were loaded.
    static LOADED: Counter<(source,)> = "tc_scraped_loaded_bytes_total";
    /// How full the pool is.
    static POOL: Gauge = "tc_scraped_pool_used_ratio";
}

#[tc_span("Store/Load", attrs(source = from))]
#[tc_metric(duration = "tc_scraped_load_seconds", labels(source = from))]
fn load(from: SourceType) {
    LOADED.add(4096_u64, (from,));
}

fn main() {
    let _telemetry = tracecast::init();
    let (ended, end) = channel();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        let _ = ended.send(());
    });
    POOL.set(0.25, ());
    while end.recv_timeout(Duration::from_millis(20)) == Err(RecvTimeoutError::Timeout) {
        load(SourceType::Disk);
    }
}
