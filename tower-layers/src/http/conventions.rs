//! The names in OpenTelemetry's semantic conventions for HTTP. A rename upstream changes one line, here or in
//! `tracecast::keys::http`.
//!
//! They are stable since version 1.23. Only the body sizes are in development, as of version 1.44.

pub(crate) use tracecast::keys::error::error_type;
pub(crate) use tracecast::keys::http::{
    request_method, response_status_code, route, server_address, server_port, url_full, url_path, url_query, url_scheme,
};

use super::label::{Called, Served};

tracecast::tc_keys! {
    /// The method as the caller sent it, if it is not a known one.
    pub(crate) id method_original: str = "http.request.method_original";
    /// The version of HTTP.
    pub(crate) id protocol_version: str = "network.protocol.version";
    /// The caller's `user-agent` header.
    pub(crate) id user_agent: str = "user_agent.original";
    /// Bytes of the request's body, as the request declares.
    pub(crate) measure request_size: u64 = "http.request.body.size";
    /// Bytes of the response's body that passed.
    pub(crate) measure response_size: u64 = "http.response.body.size";
    // These two are sets of attributes, whose names are those of their parts.
    /// Requests that were served, by all labels of the conventions.
    pub(crate) label served: Served = "http.server.request";
    /// Requests that were made, by all labels of the conventions.
    pub(crate) label called: Called = "http.client.request";
}

tracecast::tc_metrics! {
    /// How long requests took that were served.
    pub(crate) static SERVER_REQUEST_DURATION: Histogram<(served,)> = "http.server.request.duration" {
        unit: "s", buckets: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10], budget: 17500
    };
    /// How long requests took.
    pub(crate) static CLIENT_REQUEST_DURATION: Histogram<(called,)> = "http.client.request.duration" {
        unit: "s", buckets: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10], budget: 17500
    };
}
