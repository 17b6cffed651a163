//! Fetches replicas from a peer in a pipeline of three stages: fetch, verify, ingest.
//!
//! The stages work on different batches at once, of any request. So a stage's span is not a child of the stage before:
//! its parent is the request, and it has a link to the span that handed the batch on.

use std::time::Instant;

use tokio::sync::{mpsc, oneshot};
use tonic::Streaming;
use tracecast::Context;
use tracecast::prelude::*;
use tracecast_tower::TracedChannel;

use super::disk::checksum;
use super::error::StoreError;
use super::keys;
use super::messages::{Batch, PULL, PULL_BATCH, PullRequest};
use crate::rpc;

tc_metrics! {
    /// Bytes that came from peers.
    static P2P_BYTES: Counter<(keys::device,)> = "tc_p2p_bytes_total";
    /// How fast whole replicas came.
    static P2P_THROUGHPUT: Histogram<(keys::device,)> = "tc_p2p_throughput_bytes_per_second" { exponential };
}

/// A replica to fetch from a peer.
pub(crate) struct Wanted<'a> {
    pub(crate) peer: TracedChannel,
    pub(crate) artifact: &'a str,
    pub(crate) batches: u64,
    pub(crate) device: u32,
}

/// A batch on its way from stage to stage.
struct Staged {
    batch: Batch,
    device: u32,
    /// The context of the batch's request.
    request: Context,
    /// The span of the previous stage.
    before: Context,
    done: oneshot::Sender<Verdict>,
}

/// The number of bytes, or the error and the span that detected it.
type Verdict = Result<u64, (StoreError, Context)>;

/// The stages after the first; each is a task.
#[derive(Clone)]
pub(crate) struct Pipeline {
    verify: mpsc::Sender<Staged>,
}

impl Pipeline {
    pub(crate) fn start() -> Self {
        let (verify, to_verify) = mpsc::channel(4);
        let (ingest, to_ingest) = mpsc::channel(4);
        tokio::spawn(verify_all(to_verify, ingest));
        tokio::spawn(ingest_all(to_ingest));
        Pipeline { verify }
    }

    /// Fetches a whole replica.
    #[tc_span("StoreEngine/TransferReplica", attrs(keys::artifact = wanted.artifact, keys::device = wanted.device),
              result(keys::size_bytes = |bytes| *bytes))]
    pub(crate) async fn transfer(&self, wanted: &Wanted<'_>) -> Result<u64, StoreError> {
        let (began, request) = (Instant::now(), Context::current());
        let pulled = PullRequest { artifact: wanted.artifact.to_owned(), batches: wanted.batches, number: 0 };
        let mut stream = rpc::open(&wanted.peer, PULL, pulled).await?;
        let mut verdicts = Vec::new();
        for number in 0..wanted.batches {
            let (batch, fetched) = fetch(&mut stream, number).await?;
            verdicts.push(self.hand_on(batch, wanted.device, &request, fetched).await?);
        }
        // Reads the stream to its end, so that the call ends with its status and is not cancelled.
        stream.message().await?;
        let mut bytes = 0;
        for verdict in verdicts {
            bytes += match verdict.await.map_err(|_| StoreError::PeerGone)? {
                Err((StoreError::ChecksumMismatch { batch }, failed)) => {
                    self.again(wanted, batch, &request, failed).await?
                }
                verdict => verdict.map_err(|(error, _)| error)?,
            };
        }
        P2P_THROUGHPUT.record(bytes as f64 / began.elapsed().as_secs_f64(), (wanted.device,));
        Ok(bytes)
    }

    /// Fetches a damaged batch again.
    #[tc_span("StoreEngine/P2PRefetch", links(&failed), attrs(keys::batch = number))]
    async fn again(
        &self,
        wanted: &Wanted<'_>,
        number: u64,
        request: &Context,
        failed: Context,
    ) -> Result<u64, StoreError> {
        let pulled = PullRequest { artifact: wanted.artifact.to_owned(), batches: 1, number };
        let batch = rpc::call(&wanted.peer, PULL_BATCH, pulled).await?;
        let verdict = self.hand_on(batch, wanted.device, request, Context::current()).await?;
        verdict.await.map_err(|_| StoreError::PeerGone)?.map_err(|(error, _)| error)
    }

    async fn hand_on(
        &self,
        batch: Batch,
        device: u32,
        request: &Context,
        before: Context,
    ) -> Result<oneshot::Receiver<Verdict>, StoreError> {
        let (done, verdict) = oneshot::channel();
        let staged = Staged { batch, device, request: request.clone(), before, done };
        self.verify.send(staged).await.map_err(|_| StoreError::PeerGone)?;
        Ok(verdict)
    }
}

/// The first stage. Returns its context, to which the next stage links.
#[tc_span("StoreEngine/P2PFetch", attrs(keys::batch = number), result(keys::size_bytes = |it| it.0.bytes.len()))]
async fn fetch(stream: &mut Streaming<Batch>, number: u64) -> Result<(Batch, Context), StoreError> {
    let batch = stream.message().await?.ok_or(StoreError::PeerGone)?;
    Ok((batch, Context::current()))
}

async fn verify_all(mut batches: mpsc::Receiver<Staged>, next: mpsc::Sender<Staged>) {
    while let Some(mut staged) = batches.recv().await {
        match verify(&mut staged) {
            // If the last stage is gone, `done` is dropped, and the request fails.
            Ok(()) => drop(next.send(staged).await),
            Err(error) => drop(staged.done.send(Err((error, staged.before)))),
        }
    }
}

#[tc_span("StoreEngine/P2PVerify", parent = &staged.request, links(&staged.before), attrs(keys::batch = staged.batch.number))]
fn verify(staged: &mut Staged) -> Result<(), StoreError> {
    staged.before = Context::current();
    let Batch { number, bytes, checksum: expected } = &staged.batch;
    if checksum(bytes) != *expected {
        tracing::warn!(batch = number, "a batch arrived damaged and is fetched again");
        return Err(StoreError::ChecksumMismatch { batch: *number });
    }
    Ok(())
}

async fn ingest_all(mut batches: mpsc::Receiver<Staged>) {
    while let Some(staged) = batches.recv().await {
        let bytes = ingest(&staged);
        // The request may have been cancelled.
        let _ = staged.done.send(Ok(bytes));
    }
}

/// The last stage. If the GPU reports an error meanwhile, it is recorded on this span.
#[tc_span("StoreEngine/P2PIngest", parent = &staged.request, links(&staged.before),
          attrs(keys::batch = staged.batch.number, keys::location = keys::Location::Gpu))]
fn ingest(staged: &Staged) -> u64 {
    let _on_device = tracecast_nvml::on_device(staged.device);
    let copied = std::hint::black_box(staged.batch.bytes.clone()).len() as u64;
    P2P_BYTES.add(copied, (staged.device,));
    copied
}
