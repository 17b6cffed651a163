//! The messages between the processes, and the paths of their methods.

pub(crate) const GLOBAL_STORE: &str = "tensorstore.v1.GlobalStore";
pub(crate) const REGISTER: &str = "/tensorstore.v1.GlobalStore/RegisterArtifact";
pub(crate) const TRANSPORT: &str = "/tensorstore.v1.GlobalStore/RequestReplicaTransport";
pub(crate) const LEAVE: &str = "/tensorstore.v1.GlobalStore/LeaveFleet";

pub(crate) const STORE_DAEMON: &str = "tensorstore.v1.StoreDaemon";
pub(crate) const MATERIALIZE: &str = "/tensorstore.v1.StoreDaemon/MaterializeReplica";
pub(crate) const PULL: &str = "/tensorstore.v1.StoreDaemon/PullReplica";
pub(crate) const PULL_BATCH: &str = "/tensorstore.v1.StoreDaemon/PullBatch";

/// Registers an artifact on a daemon's disk.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Artifact {
    #[prost(string, tag = "1")]
    pub(crate) id: String,
    #[prost(uint64, tag = "2")]
    pub(crate) batches: u64,
    /// The address of the daemon that has it.
    #[prost(string, tag = "3")]
    pub(crate) daemon: String,
}

/// A daemon, by its address.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Daemon {
    #[prost(string, tag = "1")]
    pub(crate) address: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Done {}

/// Asks where a daemon can get an artifact.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct TransportRequest {
    #[prost(string, tag = "1")]
    pub(crate) artifact: String,
    #[prost(string, tag = "2")]
    pub(crate) daemon: String,
}

/// The answer: the daemon's own disk, or a peer.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Transport {
    /// The peer's address; empty for the disk.
    #[prost(string, tag = "1")]
    pub(crate) peer: String,
    #[prost(uint64, tag = "2")]
    pub(crate) batches: u64,
    #[prost(string, tag = "3")]
    pub(crate) replica: String,
}

/// Requests an artifact on a device.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct MaterializeRequest {
    #[prost(string, tag = "1")]
    pub(crate) artifact: String,
    #[prost(uint32, tag = "2")]
    pub(crate) device: u32,
}

/// The replica is ready.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Replica {
    #[prost(string, tag = "1")]
    pub(crate) id: String,
    #[prost(uint64, tag = "2")]
    pub(crate) bytes: u64,
    #[prost(bool, tag = "3")]
    pub(crate) remote: bool,
}

/// Requests all batches of an artifact, or one.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct PullRequest {
    #[prost(string, tag = "1")]
    pub(crate) artifact: String,
    #[prost(uint64, tag = "2")]
    pub(crate) batches: u64,
    #[prost(uint64, tag = "3")]
    pub(crate) number: u64,
}

/// A part of an artifact.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Batch {
    #[prost(uint64, tag = "1")]
    pub(crate) number: u64,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) bytes: Vec<u8>,
    #[prost(uint32, tag = "3")]
    pub(crate) checksum: u32,
}
