//! The conventional histograms of requests' durations, and the keys of their label sets.
//!
//! Their names are stable since version 1.23 of the semantic conventions.

use super::label::{Called, Served};

tracecast::tc_keys! {
    // These two are sets of attributes, whose names are those of their parts.
    /// Served requests, by all labels of the conventions.
    pub(crate) label served: Served = "http.server.request";
    /// Client requests, by all labels of the conventions.
    pub(crate) label called: Called = "http.client.request";
}

tracecast::tc_metrics! {
    /// Duration of served requests.
    pub(crate) static SERVER_REQUEST_DURATION: Histogram<(served,)> = "http.server.request.duration" {
        unit: "s", buckets: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10], budget: 17500
    };
    /// Duration of client requests.
    pub(crate) static CLIENT_REQUEST_DURATION: Histogram<(called,)> = "http.client.request.duration" {
        unit: "s", buckets: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10], budget: 17500
    };
}
