//! A Store Daemon: keeps artifacts on disk and makes replicas, from its disk or from a peer.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use tokio_stream::{Stream, StreamExt as _};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http;
use tracecast::current;
use tracecast::prelude::*;
use tracecast_tower::TracedChannel;

use super::disk::{BATCH_BYTES, Disk};
use super::error::StoreError;
use super::keys::{self, SourceType};
use super::messages::{self, Batch, Done, MaterializeRequest, PullRequest, Replica, Transport, TransportRequest};
use super::p2p::{Pipeline, Wanted};
use super::pool::Pool;
use super::role::{self, Failure};
use crate::rpc::{self, Methods};

/// Loopback is fast; this delay simulates the network between two nodes.
const NETWORK: Duration = Duration::from_millis(20);

/// The arguments of a daemon.
pub(crate) struct Settings<'a> {
    pub(crate) name: &'a str,
    pub(crate) global_store: &'a str,
    /// The path of the NVML library, here the fake one.
    pub(crate) nvml: &'a Path,
    /// The folder that is its disk.
    pub(crate) folder: &'a Path,
    /// The artifacts on its disk at start-up, with their numbers of batches.
    pub(crate) artifacts: &'a [(&'a str, u64)],
}

/// Runs a daemon until it gets SIGTERM.
pub(crate) async fn run(settings: Settings<'_>) -> Result<(), Failure> {
    let telemetry = role::telemetry("store-daemon", settings.name, "daemon")?;
    let gpus = tracecast_nvml::Config::default().with_library(settings.nvml).with_devices(["0", "1"]);
    let _monitor = tracecast_nvml::start(gpus.with_interval(Duration::from_millis(200)));
    let disk = Disk::new(settings.folder);
    for (artifact, batches) in settings.artifacts {
        disk.fill(artifact, *batches).await?;
    }
    let (listener, address) = role::listen().await?;
    let global = rpc::channel(settings.global_store)?;
    let daemon = Daemon(Arc::new(Inner {
        address: address.clone(),
        global: global.clone(),
        disk,
        pool: Pool::new(),
        pipeline: Pipeline::start(),
        damages: AtomicBool::new(true),
    }));
    let leave = || leave_fleet(global, address);
    role::serve(daemon, listener, telemetry, |shutdown| shutdown.step("leave_fleet", leave)).await
}

#[tc_span("StoreDaemon/LeaveFleet")]
async fn leave_fleet(global: TracedChannel, address: String) -> Result<(), Status> {
    tracing::info!("drained, and leaving the fleet");
    let Done {} = rpc::call(&global, messages::LEAVE, messages::Daemon { address }).await?;
    Ok(())
}

#[derive(Clone)]
struct Daemon(Arc<Inner>);

struct Inner {
    address: String,
    global: TracedChannel,
    disk: Disk,
    pool: Pool,
    pipeline: Pipeline,
    /// Whether to damage one batch in transit, to show a failure.
    damages: AtomicBool,
}

impl Inner {
    /// The layer records the span of the call; this handler adds attributes that only it knows.
    async fn materialize(&self, wanted: MaterializeRequest) -> Result<Replica, StoreError> {
        current().set(keys::artifact, &wanted.artifact);
        let question = TransportRequest { artifact: wanted.artifact.clone(), daemon: self.address.clone() };
        let transport: Transport = rpc::call(&self.global, messages::TRANSPORT, question).await?;
        let source = if transport.peer.is_empty() { SourceType::Disk } else { SourceType::Remote };
        // The demo waits for this line before it sends SIGTERM.
        println!("materializing {} from {source:?}", wanted.artifact);
        let bytes = self.load(&wanted, &transport, source).await?;
        tracing::info!(artifact = wanted.artifact, bytes, "a replica is ready");
        Ok(Replica { id: transport.replica, bytes, remote: source == SourceType::Remote })
    }

    #[tc_span("StoreEngine/LoadReplica", result(keys::size_bytes = |bytes| *bytes),
              attrs(keys::artifact = &wanted.artifact, keys::replica = &transport.replica, keys::source = source,
                    keys::device = wanted.device, keys::location = keys::Location::Gpu))]
    #[tc_metric(calls = "tc_load_total", duration = "tc_load_seconds", in_flight = "tc_load_active",
                labels(keys::source = source))]
    async fn load(
        &self,
        wanted: &MaterializeRequest,
        transport: &Transport,
        source: SourceType,
    ) -> Result<u64, StoreError> {
        let MaterializeRequest { artifact, device } = wanted;
        let memory = self.pool.reserve(*device, transport.batches * BATCH_BYTES)?;
        let bytes = match source {
            SourceType::Disk => self.read_all(artifact, transport.batches).await?,
            SourceType::Remote => {
                let peer = rpc::channel(&transport.peer)?;
                self.pipeline.transfer(&Wanted { peer, artifact, batches: transport.batches, device: *device }).await?
            }
        };
        memory.keep();
        Ok(bytes)
    }

    async fn read_all(&self, artifact: &str, batches: u64) -> Result<u64, StoreError> {
        let mut bytes = 0;
        for number in 0..batches {
            bytes += self.disk.read_batch(artifact, number).await?.bytes.len() as u64;
        }
        Ok(bytes)
    }

    /// Returns one batch to a peer.
    async fn send(&self, artifact: &str, number: u64) -> Result<Batch, StoreError> {
        tokio::time::sleep(NETWORK).await;
        let mut batch = self.disk.read_batch(artifact, number).await?;
        if number == 1 && self.damages.swap(false, Relaxed) {
            batch.bytes.iter_mut().take(1).for_each(|byte| *byte ^= 1);
        }
        Ok(batch)
    }
}

impl Daemon {
    /// Streams all batches to a peer. The span of the call is current while they are streamed.
    fn pull(&self, wanted: PullRequest) -> impl Stream<Item = Result<Batch, Status>> + Send + use<> {
        current().set(keys::artifact, &wanted.artifact);
        let (inner, artifact) = (self.0.clone(), Arc::<str>::from(wanted.artifact));
        tokio_stream::iter(0..wanted.batches).then(move |number| {
            let (inner, artifact) = (inner.clone(), artifact.clone());
            async move { Ok(inner.send(&artifact, number).await?) }
        })
    }
}

impl Methods for Daemon {
    const NAME: &'static str = messages::STORE_DAEMON;

    async fn answer(self, request: http::Request<Body>) -> http::Response<Body> {
        let inner = &*self.0;
        match request.uri().path() {
            messages::MATERIALIZE => rpc::unary(request, async |wanted| Ok(inner.materialize(wanted).await?)).await,
            messages::PULL => rpc::streaming(request, |wanted| Ok(self.pull(wanted))).await,
            messages::PULL_BATCH => {
                let send = async |wanted: PullRequest| Ok(inner.send(&wanted.artifact, wanted.number).await?);
                rpc::unary(request, send).await
            }
            _ => rpc::unimplemented(&request),
        }
    }
}
