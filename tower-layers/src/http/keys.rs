//! Tracecast's own keys for HTTP. Those of the semantic conventions are in `conventions`.

use super::label::{BrieflyCalled, BrieflyServed};

tracecast::tc_keys! {
    /// Requests that were served, by a few labels.
    pub(crate) label briefly_served: BrieflyServed = "tc.http.server.request";
    /// Requests that were made, by a few labels.
    pub(crate) label briefly_called: BrieflyCalled = "tc.http.client.request";
}
