//! Durations, messages and bytes of calls and the number of calls being served, by labels to which callers cannot add
//! values.

use tonic::Code;
use tracecast::__layers::conventions::Conventions;
use tracecast::__layers::is_measuring;
use tracecast::Counter;

use crate::grpc::durations::{CLIENT_CALL_DURATION, Called, SERVER_CALL_DURATION, ServedStatus};
use crate::grpc::keys;
use crate::grpc::label::{MethodLabel, ServiceMethod, System};
use crate::grpc::messages::Passed;
use crate::place::Place;
use crate::sets::Target;
use crate::side::Side;

tracecast::tc_metrics! {
    /// Duration of served calls.
    static SERVER_DURATION: Histogram<(keys::known_method, keys::status)> = "tc_rpc_server_duration_seconds" { budget: 25000 };
    /// Duration of client calls.
    static CLIENT_DURATION: Histogram<(keys::known_method, keys::status)> = "tc_rpc_client_duration_seconds" { budget: 25000 };
    /// Time until the first byte of a response was sent.
    static SERVER_FIRST_BYTE: Histogram<(keys::known_method,)> = "tc_rpc_server_first_byte_seconds";
    /// Time until the first byte of a response arrived.
    static CLIENT_FIRST_BYTE: Histogram<(keys::known_method,)> = "tc_rpc_client_first_byte_seconds";
    /// Calls being served.
    static SERVER_ACTIVE: UpDownCounter = "tc_rpc_server_active";
    /// Messages of requests that handlers read.
    static SERVER_REQUEST_MESSAGES: Counter<(keys::known_method,)> = "tc_rpc_server_request_messages_total";
    /// Their bytes, as they were sent.
    static SERVER_REQUEST_BYTES: Counter<(keys::known_method,)> = "tc_rpc_server_request_bytes_total";
    /// Messages of responses that were sent.
    static SERVER_RESPONSE_MESSAGES: Counter<(keys::known_method,)> = "tc_rpc_server_response_messages_total";
    /// Their bytes, as they were sent.
    static SERVER_RESPONSE_BYTES: Counter<(keys::known_method,)> = "tc_rpc_server_response_bytes_total";
    /// Messages of requests that were sent.
    static CLIENT_REQUEST_MESSAGES: Counter<(keys::known_method,)> = "tc_rpc_client_request_messages_total";
    /// Their bytes, as they were sent.
    static CLIENT_REQUEST_BYTES: Counter<(keys::known_method,)> = "tc_rpc_client_request_bytes_total";
    /// Messages of responses that were read.
    static CLIENT_RESPONSE_MESSAGES: Counter<(keys::known_method,)> = "tc_rpc_client_response_messages_total";
    /// Their bytes, as they were sent.
    static CLIENT_RESPONSE_BYTES: Counter<(keys::known_method,)> = "tc_rpc_client_response_bytes_total";
}

/// Returns whether any metric of this side is on.
#[inline]
pub(crate) fn are_on(side: Side) -> bool {
    is_measuring() && is_any_on(side)
}

fn is_any_on(side: Side) -> bool {
    match side {
        Side::Server => {
            SERVER_ACTIVE.is_on()
                || SERVER_DURATION.is_on()
                || SERVER_CALL_DURATION.is_on()
                || SERVER_FIRST_BYTE.is_on()
                || SERVER_REQUEST_MESSAGES.is_on()
                || SERVER_REQUEST_BYTES.is_on()
                || SERVER_RESPONSE_MESSAGES.is_on()
                || SERVER_RESPONSE_BYTES.is_on()
        }
        Side::Client => {
            CLIENT_DURATION.is_on()
                || CLIENT_CALL_DURATION.is_on()
                || CLIENT_FIRST_BYTE.is_on()
                || CLIENT_REQUEST_MESSAGES.is_on()
                || CLIENT_REQUEST_BYTES.is_on()
                || CLIENT_RESPONSE_MESSAGES.is_on()
                || CLIENT_RESPONSE_BYTES.is_on()
        }
    }
}

/// A call that is measured.
#[derive(Debug)]
pub(crate) struct Measured {
    side: Side,
    /// Whether the call was counted as being served.
    active: bool,
}

impl Measured {
    /// Begins to measure; `None` if all metrics of this side are off.
    #[inline]
    pub(crate) fn begin(side: Side) -> Option<Self> {
        if !is_measuring() {
            return None;
        }
        let active = side == Side::Server && SERVER_ACTIVE.is_on();
        if !active && !is_any_on(side) {
            return None;
        }
        Some(Measured { side, active })
    }

    /// Counts the call as being served, from this place.
    #[inline(always)]
    pub(crate) fn count_active(&self, place: Place) -> Place {
        if self.active { place.count(|| SERVER_ACTIVE.add(1, ())) } else { place }
    }

    /// Counts messages and bytes that have not been counted yet.
    pub(crate) fn count(&self, method: MethodLabel, request: Passed, response: Passed) {
        let method = ServiceMethod(method);
        match self.side {
            Side::Server => {
                count(&SERVER_REQUEST_MESSAGES, &SERVER_REQUEST_BYTES, method, request);
                count(&SERVER_RESPONSE_MESSAGES, &SERVER_RESPONSE_BYTES, method, response);
            }
            Side::Client => {
                count(&CLIENT_REQUEST_MESSAGES, &CLIENT_REQUEST_BYTES, method, request);
                count(&CLIENT_RESPONSE_MESSAGES, &CLIENT_RESPONSE_BYTES, method, response);
            }
        }
    }

    pub(crate) fn first_byte(&self, method: MethodLabel, seconds: f64) {
        let first_byte = match self.side {
            Side::Server => &SERVER_FIRST_BYTE,
            Side::Client => &CLIENT_FIRST_BYTE,
        };
        first_byte.record(seconds, (ServiceMethod(method),));
    }

    /// Records the duration, and counts the call as no longer being served. `server` is evaluated only for the new
    /// conventions.
    #[inline]
    pub(crate) fn end(
        &self,
        conventions: Conventions,
        method: MethodLabel,
        code: Code,
        seconds: f64,
        server: impl FnOnce() -> Target,
    ) {
        let duration = match self.side {
            Side::Server => &SERVER_DURATION,
            Side::Client => &CLIENT_DURATION,
        };
        if conventions.old() {
            duration.record(seconds, (ServiceMethod(method), code as u32));
        }
        if conventions.stable() {
            self.end_stable(method, code, seconds, server());
        }
        if self.active {
            SERVER_ACTIVE.add(-1, ());
        }
    }

    #[cold]
    fn end_stable(&self, method: MethodLabel, code: Code, seconds: f64, server: Target) {
        match self.side {
            Side::Server => SERVER_CALL_DURATION.record(seconds, (System::Grpc, method, ServedStatus(code))),
            Side::Client => CLIENT_CALL_DURATION.record(seconds, (System::Grpc, Called::of(method, server, code))),
        }
    }
}

type OfMethod = Counter<(keys::known_method,)>;

#[inline(always)]
fn count(messages: &'static OfMethod, bytes: &'static OfMethod, method: ServiceMethod, passed: Passed) {
    // A message may be empty, and bytes of an incomplete message may have passed.
    if passed.messages > 0 {
        messages.add(passed.messages, (method,));
    }
    if passed.bytes > 0 {
        bytes.add(passed.bytes, (method,));
    }
}
