//! The built-in keys: those of tensor stores and GPU services, and the semantic conventions that our layers use.

/// Where a tensor lies.
///
/// ```
/// use tracecast::{ClosedLabel, keys::Location};
///
/// assert_eq!(Location::VALUES, ["gpu", "cpu"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, crate::__private::TcLabel)]
#[tc_label(crate = crate)]
pub enum Location {
    /// The memory of a GPU.
    Gpu,
    /// The memory of the host.
    Cpu,
}

crate::tc_keys! {
    /// The GPU, by its index on the node.
    pub label device: Index<16> = "tc.device.id";
    /// A size.
    pub measure size_bytes: u64 = "tc.size.bytes";
    /// Where the tensor lies.
    pub label location: Location = "tc.location";
    /// How long a span with a heartbeat has been open.
    pub measure open_seconds: f64 = "tc.open.seconds";
    /// How long an async span was inside of its polls, what it called in them included.
    pub measure busy_seconds: f64 = "tc.busy.seconds";
    /// How often it was polled.
    pub measure polls: u64 = "tc.polls";
    /// How long its longest poll took.
    pub measure longest_poll_seconds: f64 = "tc.poll.longest.seconds";
    /// How long a poll had kept its thread, on the event of a stall.
    pub measure stall_seconds: f64 = "tc.stall.seconds";
    /// How a span ended that neither failed nor came to its end: `cancelled`, or `unfinished` if it was open at shutdown.
    pub id outcome: str = "tc.outcome";
    /// The clock jumped when the span started or ended (a suspended or migrated machine), so its times may be wrong.
    pub id uncertain_times: bool = "tc.clock.uncertain";
}

/// Tensor stores.
///
/// ```
/// use tracecast::{Key, keys::tensor};
///
/// assert_eq!(tensor::artifact::META.name, "tc.artifact.id");
/// ```
pub mod tensor {
    /// Where the bytes of a replica come from.
    ///
    /// ```
    /// use tracecast::{ClosedLabel, keys::tensor::SourceType};
    ///
    /// assert_eq!(SourceType::from_value("disk"), Some(SourceType::Disk));
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq, crate::__private::TcLabel)]
    #[tc_label(crate = crate)]
    pub enum SourceType {
        /// Another node.
        Remote,
        /// A local disk.
        Disk,
    }

    crate::tc_keys! {
        /// The artifact that is stored or moved.
        pub id artifact: str = "tc.artifact.id";
        /// One copy of an artifact.
        pub id replica: str = "tc.replica.id";
        /// Where the bytes come from.
        pub label source: SourceType = "tc.source.type";
    }
}

/// Errors.
///
/// ```
/// use tracecast::{Key, keys::error};
///
/// assert_eq!(error::error_type::META.name, "error.type");
/// ```
pub mod error {
    crate::tc_keys! {
        /// What kind of error it was.
        pub id error_type: str = "error.type";
        /// What the error said, cut to 256 bytes.
        pub id error_message: str = "error.message";
    }
}

/// Remote procedure calls.
///
/// ```
/// use tracecast::{Key, keys::rpc};
///
/// assert_eq!(rpc::method::META.name, "rpc.method");
/// ```
pub mod rpc {
    crate::tc_keys! {
        /// The protocol, as `grpc`.
        pub id system: str = "rpc.system";
        /// The service, with its package.
        pub id service: str = "rpc.service";
        /// The method.
        pub id method: str = "rpc.method";
        /// The numeric status of a gRPC call.
        pub id grpc_status_code: i64 = "rpc.grpc.status_code";
    }
}

/// Databases.
pub mod db {
    crate::tc_keys! {
        /// The product, as `postgresql`.
        pub id system_name: str = "db.system.name";
        /// The database or schema.
        pub id namespace: str = "db.namespace";
        /// The table or collection.
        pub id collection_name: str = "db.collection.name";
        /// What is done.
        pub id operation_name: str = "db.operation.name";
        /// The query, without the values of its parameters.
        pub id query_text: str = "db.query.text";
    }
}

/// HTTP and its network.
pub mod http {
    crate::tc_keys! {
        /// The method.
        pub id request_method: str = "http.request.method";
        /// The status.
        pub id response_status_code: i64 = "http.response.status_code";
        /// The route's template.
        pub id route: str = "http.route";
        /// The whole URL.
        pub id url_full: str = "url.full";
        /// Its path.
        pub id url_path: str = "url.path";
        /// Its query.
        pub id url_query: str = "url.query";
        /// Its scheme.
        pub id url_scheme: str = "url.scheme";
        /// The server's name.
        pub id server_address: str = "server.address";
        /// The server's port.
        pub id server_port: i64 = "server.port";
        /// The other side's address.
        pub id network_peer_address: str = "network.peer.address";
        /// The other side's port.
        pub id network_peer_port: i64 = "network.peer.port";
    }
}

/// Queues.
pub mod messaging {
    crate::tc_keys! {
        /// The product, as `kafka`.
        pub id system: str = "messaging.system";
        /// What is done.
        pub id operation_name: str = "messaging.operation.name";
        /// The queue or topic.
        pub id destination_name: str = "messaging.destination.name";
        /// The message.
        pub id message_id: str = "messaging.message.id";
    }
}
