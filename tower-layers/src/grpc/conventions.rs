//! The names in OpenTelemetry's semantic conventions for remote calls. A rename upstream changes one line here.
//!
//! The old names are those of version 1.37; `tracecast::keys::rpc` has those that only spans use. The new names, which
//! `OTEL_SEMCONV_STABILITY_OPT_IN=rpc` selects, are those of the development version after 1.44. Their status is
//! `rpc.status_code` since semantic-conventions#3921; before, it was `rpc.response.status_code`. Client metrics have
//! `server.address` and `server.port`; on server metrics both are optional (semantic-conventions#3919), and ours leave
//! them out.

use crate::grpc::label::{MethodLabel, ServiceMethod, StatusName, System};

// Version 1.37.
tracecast::tc_keys! {
    /// The service and the method, if it is known: two attributes, `rpc.service` and `rpc.method`.
    pub label known_method: ServiceMethod = "rpc.service";
    /// The status.
    pub label status: Index<17> = "rpc.grpc.status_code";
}

// The version after 1.44.
tracecast::tc_keys! {
    /// The protocol, in the newer conventions.
    pub label system: System = "rpc.system.name";
    /// The method with its service, as `store.v1.Store/Get`, if it is known.
    pub label full_method: MethodLabel = "rpc.method";
    /// The method as the caller wrote it, if it is not a known one.
    pub id method_original: str = "rpc.method_original";
    /// The name of the status, in the newer conventions.
    pub label status_name: StatusName = "rpc.status_code";
}
