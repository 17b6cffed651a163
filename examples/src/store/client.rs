//! A client of the store, which runs the demo's scenario.

use std::time::Duration;

use tonic::Status;
use tracecast::prelude::*;
use tracecast_tower::TracedChannel;

use super::error::StoreError;
use super::keys;
use super::messages::{self, Artifact, Done, MaterializeRequest, Replica};
use super::role::{self, Failure};
use crate::rpc;

/// All spans below, in all processes, carry the session.
const SESSION: &str = "demo-session";
/// The time after which the client cancels its slow request.
const PATIENCE: Duration = Duration::from_millis(150);

/// The addresses of the other processes.
pub(crate) struct Fleet<'a> {
    pub(crate) global_store: &'a str,
    /// The daemon that has all artifacts on its disk.
    pub(crate) first: &'a str,
    pub(crate) second: &'a str,
    pub(crate) artifacts: &'a [(&'a str, u64)],
}

/// Runs the scenario and returns.
pub(crate) async fn run(fleet: Fleet<'_>) -> Result<(), Failure> {
    let telemetry = role::telemetry("store-client", "client", "client")?;
    let client = Client { first: rpc::channel(fleet.first)?, second: rpc::channel(fleet.second)? };
    register_artifacts(&rpc::channel(fleet.global_store)?, &fleet).await?;
    println!("registered {} artifacts at the Global Store", fleet.artifacts.len());
    client.story().await;
    eprintln!("telemetry: {}", telemetry.shutdown(role::FLUSH));
    Ok(())
}

#[tc_span("Client/RegisterArtifacts", share(keys::session = SESSION))]
async fn register_artifacts(global_store: &TracedChannel, fleet: &Fleet<'_>) -> Result<(), Status> {
    for &(id, batches) in fleet.artifacts {
        let artifact = Artifact { id: id.to_owned(), batches, daemon: fleet.first.to_owned() };
        let Done {} = rpc::call(global_store, messages::REGISTER, artifact).await?;
    }
    Ok(())
}

struct Client {
    first: TracedChannel,
    second: TracedChannel,
}

#[tc_span(component = "Client")]
impl Client {
    async fn story(&self) {
        tell(self.load_model("resnet-50", &self.first, 0).await);
        tell(self.load_model("llama-3-8b", &self.second, 0).await);
        tell(self.load_model("missing-weights", &self.second, 0).await);
        let given_up = self.load_model("mixtral-8x7b", &self.second, 1);
        match tokio::time::timeout(PATIENCE, given_up).await {
            Ok(loaded) => tell(loaded),
            Err(_) => println!("gave mixtral-8x7b up after {PATIENCE:?}"),
        }
        // The daemon gets SIGTERM meanwhile and still finishes this request.
        tell(self.load_model("gemma-2-9b", &self.second, 1).await);
    }

    #[tc_span(share(keys::session = SESSION), attrs(keys::artifact = artifact, keys::device = device),
              result(keys::replica = |replica| replica.id.as_str(), keys::size_bytes = |replica| replica.bytes))]
    async fn load_model(&self, artifact: &str, daemon: &TracedChannel, device: u32) -> Result<Replica, StoreError> {
        tracing::info!(artifact, "a model is wanted");
        let wanted = MaterializeRequest { artifact: artifact.to_owned(), device };
        Ok(rpc::call(daemon, messages::MATERIALIZE, wanted).await?)
    }
}

fn tell(loaded: Result<Replica, StoreError>) {
    match loaded {
        Ok(replica) => {
            let from = if replica.remote { "a peer" } else { "disk" };
            println!("materialized {} from {from}, {} MiB", replica.id, replica.bytes >> 20);
        }
        Err(error) => println!("failed: {error}"),
    }
}
