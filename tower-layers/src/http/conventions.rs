//! The names in OpenTelemetry's semantic conventions for HTTP. A rename upstream changes one line, here or in
//! `tracecast::keys::http`.
//!
//! The names are stable since version 1.23. Only the body sizes are in development, as of version 1.44.

pub(crate) use tracecast::keys::error::error_type;
pub(crate) use tracecast::keys::http::{
    request_method, response_status_code, route, server_address, server_port, url_full, url_path, url_query, url_scheme,
};

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
}
