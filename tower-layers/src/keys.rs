//! The keys that the layers add to those of `tracecast::keys`.

pub use crate::label::MethodLabel;

tracecast::tc_keys! {
    /// Messages of the request: sent by a client, read by a server's handler.
    pub measure request_messages: u64 = "tc.rpc.request.messages";
    /// Their bytes, as they were sent.
    pub measure request_bytes: u64 = "tc.rpc.request.bytes";
    /// Messages of the response: sent by a server, read by a client.
    pub measure response_messages: u64 = "tc.rpc.response.messages";
    /// Their bytes, as they were sent.
    pub measure response_bytes: u64 = "tc.rpc.response.bytes";
    /// The method with its service, as `store.v1.Store/Get`, if it is known.
    pub label known_method: MethodLabel = "rpc.method";
    /// The status.
    pub label status: Index<17> = "rpc.grpc.status_code";
}
