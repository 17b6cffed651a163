//! The Global Store: records which daemon has which artifact.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tonic::body::Body;
use tonic::codegen::http;
use tracecast::current;
use tracecast::prelude::*;

use super::error::StoreError;
use super::keys;
use super::messages::{self, Artifact, Daemon, Done, Transport, TransportRequest};
use super::role::{self, Failure};
use crate::rpc::{self, Methods};

tc_metrics! {
    /// Registered artifacts.
    static ARTIFACTS: Gauge<(), u64> = "tc_artifacts";
}

/// Runs a Global Store until it gets SIGTERM.
pub(crate) async fn run() -> Result<(), Failure> {
    let telemetry = role::telemetry("global-store", "global-store", "global_store")?;
    let (listener, _) = role::listen().await?;
    role::serve(GlobalStore::default(), listener, telemetry, |shutdown| shutdown).await
}

/// The daemons that have an artifact.
#[derive(Clone, Debug, Default)]
struct Known {
    batches: u64,
    daemons: Vec<String>,
}

#[derive(Clone, Default)]
struct GlobalStore(Arc<Mutex<HashMap<String, Known>>>);

/// The layer records the spans of the calls; these functions add attributes that only they know.
impl GlobalStore {
    fn register(&self, artifact: Artifact) {
        current().set(keys::artifact, &artifact.id);
        tracing::info!(artifact = artifact.id, daemon = artifact.daemon, "an artifact was registered");
        let mut artifacts = self.lock();
        let known = artifacts.entry(artifact.id).or_default();
        known.batches = artifact.batches;
        known.daemons.push(artifact.daemon);
        ARTIFACTS.set(artifacts.len() as u64, ());
    }

    /// A daemon that has the artifact reads its disk; any other daemon asks a peer.
    #[tc_span("GlobalStore/ChoosePeer", attrs(keys::artifact = &wanted.artifact))]
    fn choose_peer(&self, wanted: &TransportRequest) -> Result<Transport, StoreError> {
        let artifacts = self.lock();
        let known = artifacts.get(&wanted.artifact).filter(|known| !known.daemons.is_empty());
        let known = known.ok_or_else(|| StoreError::NotFound { what: wanted.artifact.clone() })?;
        let own = known.daemons.contains(&wanted.daemon);
        let peer = if own { String::new() } else { known.daemons[0].clone() };
        let replica = format!("{}@{}", wanted.artifact, wanted.daemon);
        current().set(keys::source, if own { keys::SourceType::Disk } else { keys::SourceType::Remote });
        tracing::info!(artifact = wanted.artifact, peer, "a source was chosen");
        Ok(Transport { peer, batches: known.batches, replica })
    }

    fn leave(&self, daemon: &Daemon) {
        tracing::info!(daemon = daemon.address, "a daemon left the fleet");
        self.lock().values_mut().for_each(|known| known.daemons.retain(|address| *address != daemon.address));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Methods for GlobalStore {
    const NAME: &'static str = messages::GLOBAL_STORE;

    async fn answer(self, request: http::Request<Body>) -> http::Response<Body> {
        match request.uri().path() {
            messages::REGISTER => {
                let register = async |artifact| {
                    self.register(artifact);
                    Ok(Done {})
                };
                rpc::unary(request, register).await
            }
            messages::TRANSPORT => rpc::unary(request, async |wanted| Ok(self.choose_peer(&wanted)?)).await,
            messages::LEAVE => {
                let leave = async |daemon| {
                    self.leave(&daemon);
                    Ok(Done {})
                };
                rpc::unary(request, leave).await
            }
            _ => rpc::unimplemented(&request),
        }
    }
}
