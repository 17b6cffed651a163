//! The built-in keys: keys for tensor stores and GPU services, and names of OpenTelemetry's semantic conventions.
//!
//! Each module of conventional names states their version. Code takes such a name from its key, as `rpc::method::META.name`, so that a
//! rename upstream is one line. Names that only one crate writes are in `tower-layers/src/{grpc,http}/conventions.rs` and
//! `nvml/src/gpu/conventional.rs`.

/// Where a tensor is stored.
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
    /// A size in bytes.
    pub measure size_bytes: u64 = "tc.size.bytes";
    /// Where the tensor is stored.
    pub label location: Location = "tc.location";
    /// How long a span with a heartbeat has been open.
    pub measure open_seconds: f64 = "tc.open.seconds";
    /// The total duration of an async span's polls, including calls inside them.
    pub measure busy_seconds: f64 = "tc.busy.seconds";
    /// The number of an async span's polls.
    pub measure polls: u64 = "tc.polls";
    /// The duration of an async span's longest poll.
    pub measure longest_poll_seconds: f64 = "tc.poll.longest.seconds";
    /// The duration for which a poll had occupied its thread, on the event of a stall.
    pub measure stall_seconds: f64 = "tc.stall.seconds";
    /// How a span ended that neither succeeded nor failed: `cancelled`, or `unfinished` if it was open at shutdown.
    pub id outcome: str = "tc.outcome";
    /// The clock jumped at the span's start or end (the machine was suspended or migrated), so its times may be wrong.
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

/// Errors. `error.type` is stable since version 1.23 of the semantic conventions. `error.message` was part of versions 1.32 to
/// 1.39 and is deprecated since 1.40; the names that replace it belong to single domains, and none of them is for spans.
///
/// ```
/// use tracecast::{Key, keys::error};
///
/// assert_eq!(error::error_type::META.name, "error.type");
/// ```
pub mod error {
    crate::tc_keys! {
        /// The type of the error.
        pub id error_type: str = "error.type";
        /// The text of the error, cut to 256 bytes.
        pub id error_message: str = "error.message";
    }
}

/// Remote procedure calls, as in version 1.37 of the semantic conventions. Later versions have other names, which
/// `OTEL_SEMCONV_STABILITY_OPT_IN=rpc` selects.
///
/// ```
/// use tracecast::{Key, keys::rpc};
///
/// assert_eq!(rpc::method::META.name, "rpc.method");
/// ```
pub mod rpc {
    crate::tc_keys! {
        /// The RPC system, such as `grpc`.
        pub id system: str = "rpc.system";
        /// The service, with its package.
        pub id service: str = "rpc.service";
        /// The method.
        pub id method: str = "rpc.method";
        /// The numeric status of a gRPC call.
        pub id grpc_status_code: i64 = "rpc.grpc.status_code";
    }
}

/// Databases. Stable since version 1.33 of the semantic conventions.
pub mod db {
    crate::tc_keys! {
        /// The database product, such as `postgresql`.
        pub id system_name: str = "db.system.name";
        /// The database or schema.
        pub id namespace: str = "db.namespace";
        /// The table or collection.
        pub id collection_name: str = "db.collection.name";
        /// The operation.
        pub id operation_name: str = "db.operation.name";
        /// The query, without the values of its parameters.
        pub id query_text: str = "db.query.text";
    }
}

/// HTTP and its network. Stable since version 1.23 of the semantic conventions.
pub mod http {
    crate::tc_keys! {
        /// The HTTP method.
        pub id request_method: str = "http.request.method";
        /// The status code.
        pub id response_status_code: i64 = "http.response.status_code";
        /// The route's template.
        pub id route: str = "http.route";
        /// The full URL.
        pub id url_full: str = "url.full";
        /// The path of the URL.
        pub id url_path: str = "url.path";
        /// The query of the URL.
        pub id url_query: str = "url.query";
        /// The scheme of the URL.
        pub id url_scheme: str = "url.scheme";
        /// The server's name.
        pub id server_address: str = "server.address";
        /// The server's port.
        pub id server_port: i64 = "server.port";
        /// The address of the peer.
        pub id network_peer_address: str = "network.peer.address";
        /// The port of the peer.
        pub id network_peer_port: i64 = "network.peer.port";
    }
}

/// Message queues, as in version 1.44 of the semantic conventions, where these names are in development and may change.
pub mod messaging {
    crate::tc_keys! {
        /// The messaging product, such as `kafka`.
        pub id system: str = "messaging.system";
        /// The operation.
        pub id operation_name: str = "messaging.operation.name";
        /// The queue or topic.
        pub id destination_name: str = "messaging.destination.name";
        /// The id of the message.
        pub id message_id: str = "messaging.message.id";
    }
}
