//! What the processes say to each other, and the paths of their methods.

pub(crate) const GLOBAL_STORE: &str = "tensorstore.v1.GlobalStore";
pub(crate) const REGISTER: &str = "/tensorstore.v1.GlobalStore/RegisterArtifact";
pub(crate) const TRANSPORT: &str = "/tensorstore.v1.GlobalStore/RequestReplicaTransport";
pub(crate) const LEAVE: &str = "/tensorstore.v1.GlobalStore/LeaveFleet";

pub(crate) const STORE_DAEMON: &str = "tensorstore.v1.StoreDaemon";
pub(crate) const MATERIALIZE: &str = "/tensorstore.v1.StoreDaemon/MaterializeReplica";
pub(crate) const PULL: &str = "/tensorstore.v1.StoreDaemon/PullReplica";
pub(crate) const PULL_BATCH: &str = "/tensorstore.v1.StoreDaemon/PullBatch";

/// A daemon has an artifact on its disk.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Artifact {
    #[prost(string, tag = "1")]
    pub(crate) id: String,
    #[prost(uint64, tag = "2")]
    pub(crate) batches: u64,
    /// Where the daemon that has it listens.
    #[prost(string, tag = "3")]
    pub(crate) daemon: String,
}

/// A daemon, by where it listens.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Daemon {
    #[prost(string, tag = "1")]
    pub(crate) address: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Done {}

/// Where does a daemon get an artifact from?
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct TransportRequest {
    #[prost(string, tag = "1")]
    pub(crate) artifact: String,
    #[prost(string, tag = "2")]
    pub(crate) daemon: String,
}

/// From its own disk, or from a peer.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Transport {
    /// Where the peer listens; empty for the disk.
    #[prost(string, tag = "1")]
    pub(crate) peer: String,
    #[prost(uint64, tag = "2")]
    pub(crate) batches: u64,
    #[prost(string, tag = "3")]
    pub(crate) replica: String,
}

/// An artifact is wanted on a device.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct MaterializeRequest {
    #[prost(string, tag = "1")]
    pub(crate) artifact: String,
    #[prost(uint32, tag = "2")]
    pub(crate) device: u32,
}

/// It is there.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Replica {
    #[prost(string, tag = "1")]
    pub(crate) id: String,
    #[prost(uint64, tag = "2")]
    pub(crate) bytes: u64,
    #[prost(bool, tag = "3")]
    pub(crate) remote: bool,
}

/// All batches of an artifact are wanted, or one.
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
