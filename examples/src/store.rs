//! The store: a daemon that materializes replicas from disk or from a peer, by a pipeline of two stages.

use std::fmt;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tracecast::keys::{self, SourceType};
use tracecast::prelude::*;

tc_metrics! {
    /// Bytes moved between peers.
    static P2P_BYTES: Counter = "tc_p2p_bytes_total";
    /// How large replicas are.
    static REPLICA_BYTES: Histogram<(keys::source,), u64> = "tc_replica_bytes" { exponential };
}

/// What a client asks for.
pub(crate) struct Request {
    artifact: String,
    source: SourceType,
    chunks: u32,
}

impl Request {
    pub(crate) fn from_disk(artifact: &str) -> Self {
        Request { artifact: artifact.to_owned(), source: SourceType::Disk, chunks: 1 }
    }

    pub(crate) fn from_peer(artifact: &str, chunks: u32) -> Self {
        Request { artifact: artifact.to_owned(), source: SourceType::Remote, chunks }
    }
}

/// Why a replica could not be materialized.
#[derive(Debug, TcError)]
pub(crate) enum StoreError {
    NotFound { artifact: String },
    PeerGone,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::NotFound { artifact } => write!(f, "no artifact `{artifact}` on this disk"),
            StoreError::PeerGone => f.write_str("the peer went away"),
        }
    }
}

/// A chunk on its way through the pipeline, with the context of the stage before.
struct Chunk {
    sent_by: Context,
    bytes: Vec<u8>,
    done: oneshot::Sender<Vec<u8>>,
}

/// Serves replicas; its second stage runs as a task of its own.
pub(crate) struct Daemon {
    ingest: mpsc::Sender<Chunk>,
    stage: JoinHandle<()>,
}

#[tc_span(component = "StoreDaemon")]
impl Daemon {
    pub(crate) fn new() -> Self {
        let (ingest, mut chunks) = mpsc::channel::<Chunk>(4);
        let stage = tokio::spawn(async move {
            while let Some(chunk) = chunks.recv().await {
                p2p_ingest(chunk).await;
            }
        });
        Daemon { ingest, stage }
    }

    #[tc_span(attrs(keys::artifact = &request.artifact, keys::source = request.source),
              result(keys::size_bytes = |replica| replica.len()))]
    #[tc_metric(calls = "tc_materialize_total", duration = "tc_materialize_seconds",
                in_flight = "tc_materialize_active", labels(keys::source = request.source))]
    pub(crate) async fn materialize(&self, request: Request) -> Result<Vec<u8>, StoreError> {
        let replica = match request.source {
            SourceType::Disk => read_disk(&request.artifact).await,
            SourceType::Remote => self.fetch_from_peer(request.chunks).await,
        }?;
        REPLICA_BYTES.record(replica.len(), (request.source,));
        Ok(replica)
    }

    #[tc_span(kind = client)]
    async fn fetch_from_peer(&self, chunks: u32) -> Result<Vec<u8>, StoreError> {
        let mut replica = Vec::new();
        for number in 0..chunks {
            tokio::time::sleep(Duration::from_millis(2)).await;
            current().event_with("chunk", |event| event.set(keys::size_bytes, 1024_u64 << (number % 4)));
            let (done, ingested) = oneshot::channel();
            let chunk = Chunk { sent_by: Context::current(), bytes: vec![7; 1024], done };
            self.ingest.send(chunk).await.map_err(|_| StoreError::PeerGone)?;
            replica.extend(ingested.await.map_err(|_| StoreError::PeerGone)?);
        }
        Ok(replica)
    }

    /// Lets the pipeline run dry.
    pub(crate) async fn close(self) {
        drop(self.ingest);
        let _ = self.stage.await;
    }
}

#[tc_span("StoreEngine/ReadDisk", attrs(keys::location = keys::Location::Cpu))]
async fn read_disk(artifact: &str) -> Result<Vec<u8>, StoreError> {
    tokio::time::sleep(Duration::from_millis(3)).await;
    if artifact.starts_with("missing") {
        return Err(StoreError::NotFound { artifact: artifact.to_owned() });
    }
    Ok(artifact.bytes().cycle().take(4096).collect())
}

/// A stage of its own: it is linked to what sent the chunk, and not its child.
#[tc_span("StoreEngine/P2PIngest", links(&chunk.sent_by), attrs(keys::size_bytes = chunk.bytes.len()))]
async fn p2p_ingest(chunk: Chunk) {
    tokio::time::sleep(Duration::from_millis(1)).await;
    P2P_BYTES.add(chunk.bytes.len(), ());
    // The one that asked may have given up.
    let _ = chunk.done.send(chunk.bytes);
}
