//! The keys of the gRPC layers, besides those in `tracecast::keys`.

pub use crate::grpc::conventions::{full_method, known_method, method_original, status, status_name, system};
pub use crate::grpc::label::{MethodLabel, ServiceMethod, StatusName, System};

tracecast::tc_keys! {
    /// Messages of the request: sent by a client, read by a server's handler.
    pub measure request_messages: u64 = "tc.rpc.request.messages";
    /// Their bytes, as they were sent.
    pub measure request_bytes: u64 = "tc.rpc.request.bytes";
    /// Messages of the response: sent by a server, read by a client.
    pub measure response_messages: u64 = "tc.rpc.response.messages";
    /// Their bytes, as they were sent.
    pub measure response_bytes: u64 = "tc.rpc.response.bytes";
    /// The number of a span among those of a long stream, from 1.
    pub measure segment: u64 = "tc.rpc.segment";
    /// The number of a message in its stream, from 1.
    pub measure message: u64 = "tc.rpc.message";
    /// Messages of a stream that have no span of their own because the cap was reached.
    pub measure messages_without_span: u64 = "tc.rpc.messages_without_span";
    /// The outcome of a call that its own side gave up: `cancelled`.
    pub id outcome: str = "tc.outcome";
}
