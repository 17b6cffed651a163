//! How long calls take and how many there are at a time, by labels that no caller can add to.

use std::time::Duration;

use tonic::Code;

use crate::keys;
use crate::label::MethodLabel;
use crate::status::Side;

tracecast::tc_metrics! {
    /// How long calls took that were served.
    static SERVER_DURATION: Histogram<(keys::known_method, keys::status)> = "tc_rpc_server_duration_seconds" { budget: 25000 };
    /// How long calls took.
    static CLIENT_DURATION: Histogram<(keys::known_method, keys::status)> = "tc_rpc_client_duration_seconds" { budget: 25000 };
    /// Calls that are being served.
    static SERVER_ACTIVE: UpDownCounter = "tc_rpc_server_active";
}

/// A call that is measured.
#[derive(Debug)]
pub(crate) struct Measured {
    side: Side,
    /// It was counted as one that is being served.
    active: bool,
}

impl Measured {
    /// Begins to measure, if any metric of this side is on.
    pub(crate) fn begin(side: Side) -> Option<Self> {
        let active = side == Side::Server && SERVER_ACTIVE.is_on();
        if active {
            SERVER_ACTIVE.add(1, ());
        }
        let timed = match side {
            Side::Server => SERVER_DURATION.is_on(),
            Side::Client => CLIENT_DURATION.is_on(),
        };
        (active || timed).then_some(Measured { side, active })
    }

    pub(crate) fn end(self, method: MethodLabel, code: Code, took: Duration) {
        let labels = (method, code as u32);
        match self.side {
            Side::Server => SERVER_DURATION.record(took.as_secs_f64(), labels),
            Side::Client => CLIENT_DURATION.record(took.as_secs_f64(), labels),
        }
        if self.active {
            SERVER_ACTIVE.add(-1, ());
        }
    }
}
