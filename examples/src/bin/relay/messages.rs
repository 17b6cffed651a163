//! The messages and methods of `.ci/languages/relay.proto`.

use std::collections::HashMap;

pub(crate) const PASS: &str = "/relay.v1.Relay/Pass";
pub(crate) const FAIL: &str = "/relay.v1.Relay/Fail";
pub(crate) const FAIL_MIDWAY: &str = "/relay.v1.Relay/FailMidway";
pub(crate) const TRY: &str = "/relay.v1.Relay/Try";

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Route {
    #[prost(string, repeated, tag = "1")]
    pub(crate) next: Vec<String>,
    #[prost(map = "string, string", tag = "2")]
    pub(crate) baggage: HashMap<String, String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Hops {
    #[prost(message, repeated, tag = "1")]
    pub(crate) hops: Vec<Hop>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Hop {
    #[prost(string, tag = "1")]
    pub(crate) peer: String,
    #[prost(string, tag = "2")]
    pub(crate) traceparent: String,
    #[prost(string, tag = "3")]
    pub(crate) tracestate: String,
    #[prost(map = "string, string", tag = "4")]
    pub(crate) baggage: HashMap<String, String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Failure {
    #[prost(int32, tag = "1")]
    pub(crate) code: i32,
    #[prost(string, tag = "2")]
    pub(crate) message: String,
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) details: Vec<u8>,
    #[prost(uint32, tag = "4")]
    pub(crate) messages: u32,
    #[prost(bool, tag = "5")]
    pub(crate) opened: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Trial {
    #[prost(string, tag = "1")]
    pub(crate) address: String,
    #[prost(bool, tag = "2")]
    pub(crate) midway: bool,
    #[prost(message, optional, tag = "3")]
    pub(crate) failure: Option<Failure>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Ending {
    #[prost(int32, tag = "1")]
    pub(crate) code: i32,
    #[prost(string, tag = "2")]
    pub(crate) message: String,
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) details: Vec<u8>,
    #[prost(uint32, tag = "4")]
    pub(crate) messages: u32,
}
