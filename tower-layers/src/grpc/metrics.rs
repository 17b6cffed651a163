//! How long calls take, how many there are at a time and what they carry, by labels that no caller can add to.

use std::time::Duration;

use tonic::Code;
use tracecast::__layers::conventions::{self, Conventions};
use tracecast::{Counter, Histogram};

use crate::grpc::conventions::{CLIENT_CALL_DURATION, SERVER_CALL_DURATION};
use crate::grpc::keys;
use crate::grpc::label::{MethodLabel, ServiceMethod, StatusName, System};
use crate::grpc::messages::Passed;
use crate::side::Side;

tracecast::tc_metrics! {
    /// How long calls took that were served.
    static SERVER_DURATION: Histogram<(keys::known_method, keys::status)> = "tc_rpc_server_duration_seconds" { budget: 25000 };
    /// How long calls took.
    static CLIENT_DURATION: Histogram<(keys::known_method, keys::status)> = "tc_rpc_client_duration_seconds" { budget: 25000 };
    /// How long it took until the first byte of a response was sent.
    static SERVER_FIRST_BYTE: Histogram<(keys::known_method,)> = "tc_rpc_server_first_byte_seconds";
    /// How long it took until the first byte of a response arrived.
    static CLIENT_FIRST_BYTE: Histogram<(keys::known_method,)> = "tc_rpc_client_first_byte_seconds";
    /// Calls that are being served.
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

/// The metrics of one side.
struct Metrics {
    duration: &'static Histogram<(keys::known_method, keys::status)>,
    call_duration: &'static Histogram<(keys::system, keys::full_method, keys::status_name)>,
    first_byte: &'static Histogram<(keys::known_method,)>,
    /// Messages and bytes of requests, then those of responses.
    passed: [&'static Counter<(keys::known_method,)>; 4],
}

static SERVER: Metrics = Metrics {
    duration: &SERVER_DURATION,
    call_duration: &SERVER_CALL_DURATION,
    first_byte: &SERVER_FIRST_BYTE,
    passed: [&SERVER_REQUEST_MESSAGES, &SERVER_REQUEST_BYTES, &SERVER_RESPONSE_MESSAGES, &SERVER_RESPONSE_BYTES],
};
static CLIENT: Metrics = Metrics {
    duration: &CLIENT_DURATION,
    call_duration: &CLIENT_CALL_DURATION,
    first_byte: &CLIENT_FIRST_BYTE,
    passed: [&CLIENT_REQUEST_MESSAGES, &CLIENT_REQUEST_BYTES, &CLIENT_RESPONSE_MESSAGES, &CLIENT_RESPONSE_BYTES],
};

impl Metrics {
    fn of(side: Side) -> &'static Self {
        match side {
            Side::Server => &SERVER,
            Side::Client => &CLIENT,
        }
    }
}

/// Whether a call of this side is to be measured.
#[inline]
pub(crate) fn are_on(side: Side) -> bool {
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
    conventions: Conventions,
    /// It was counted as one that is being served.
    active: bool,
}

impl Measured {
    /// Begins to measure, if any metric of this side is on.
    pub(crate) fn begin(side: Side) -> Option<Self> {
        if !are_on(side) {
            return None;
        }
        let active = side == Side::Server && SERVER_ACTIVE.is_on();
        if active {
            SERVER_ACTIVE.add(1, ());
        }
        Some(Measured { side, conventions: conventions::rpc(), active })
    }

    /// Counts what has passed, of which nothing was counted before.
    pub(crate) fn count(&self, method: MethodLabel, request: Passed, response: Passed) {
        let amounts = [request.messages, request.bytes, response.messages, response.bytes];
        for (counter, amount) in Metrics::of(self.side).passed.iter().zip(amounts) {
            if amount > 0 {
                counter.add(amount, (ServiceMethod(method),));
            }
        }
    }

    pub(crate) fn first_byte(&self, method: MethodLabel, after: Duration) {
        Metrics::of(self.side).first_byte.record(after.as_secs_f64(), (ServiceMethod(method),));
    }

    pub(crate) fn end(&self, method: MethodLabel, code: Code, took: Duration) {
        let (metrics, seconds) = (Metrics::of(self.side), took.as_secs_f64());
        if self.conventions.old() {
            metrics.duration.record(seconds, (ServiceMethod(method), code as u32));
        }
        if self.conventions.stable() {
            metrics.call_duration.record(seconds, (System::Grpc, method, StatusName(code)));
        }
        if self.active {
            SERVER_ACTIVE.add(-1, ());
        }
    }
}
