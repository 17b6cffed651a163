//! The demo: a small tensor store in one process, recorded in memory and printed when it is done.
//!
//! A client asks the daemon for replicas. One comes from disk, one from a peer by a staged transfer whose stages are
//! linked, one fails, and one request is given up before it ends. Then the terminal shows the trees of spans, the
//! metrics, the account of every span, and the catalogue of what the program can emit.

mod print;
mod store;

use std::time::Duration;

use store::{Daemon, Request};
use tracecast::{Metering, MeteringConfig, Recording, RecordingConfig, Temporality};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let recording = Recording::start(RecordingConfig::default())?;
    let metering = Metering::start(MeteringConfig::default())?;
    println!("materializing four replicas ..");
    let daemon = Daemon::new();
    let answers = [
        daemon.materialize(Request::from_disk("resnet-50")).await,
        daemon.materialize(Request::from_peer("llama-3-8b", 2)).await,
        daemon.materialize(Request::from_disk("missing-weights")).await,
    ];
    for answer in &answers {
        match answer {
            Ok(replica) => println!("  ok: {} bytes", replica.len()),
            Err(error) => println!("  failed: {error}"),
        }
    }
    // The client gives up: the future is dropped before its end.
    let given_up = daemon.materialize(Request::from_peer("mixtral-8x7b", 40));
    if tokio::time::timeout(Duration::from_millis(20), given_up).await.is_err() {
        println!("  given up after 20 ms");
    }
    daemon.close().await;

    let spans = recording.drain();
    print::traces(&spans);
    print::metrics(&metering.reader(Temporality::Cumulative).snapshot());
    print::account(&recording.accounting());
    print::catalogue(&tracecast::catalogue());
    Ok(())
}
