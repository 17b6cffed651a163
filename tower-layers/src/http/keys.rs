//! The keys of HTTP that are not among `tracecast::keys`. Those without `tc` are of the semantic conventions, whose names for HTTP are
//! stable since version 1.23.

use super::label::{BrieflyCalled, BrieflyServed, Called, Served};

tracecast::tc_keys! {
    /// The method as it came, if it is none of the known ones.
    pub(crate) id method_original: str = "http.request.method_original";
    /// The version of HTTP.
    pub(crate) id protocol_version: str = "network.protocol.version";
    /// What the caller says it is.
    pub(crate) id user_agent: str = "user_agent.original";
    /// Bytes of the request's body, as it says of itself.
    pub(crate) measure request_size: u64 = "http.request.body.size";
    /// Bytes of the response's body that passed.
    pub(crate) measure response_size: u64 = "http.response.body.size";
    /// Requests that were served, by all labels of the conventions.
    pub(crate) label served: Served = "http.server.request";
    /// Requests that were made, by all labels of the conventions.
    pub(crate) label called: Called = "http.client.request";
    /// Requests that were served, by a few labels.
    pub(crate) label briefly_served: BrieflyServed = "tc.http.server.request";
    /// Requests that were made, by a few labels.
    pub(crate) label briefly_called: BrieflyCalled = "tc.http.client.request";
}
