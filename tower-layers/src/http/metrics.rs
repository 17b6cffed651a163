//! Durations of requests and the number of requests being served, by labels to which callers cannot add values.

use tracecast::__layers::conventions::{self, Conventions};
use tracecast::__layers::is_measuring;

use super::durations::{CLIENT_REQUEST_DURATION, SERVER_REQUEST_DURATION};
use super::keys;
use super::label::{BrieflyCalled, BrieflyServed, Called, Served};
use super::set::Set;
use crate::place::Place;
use crate::side::Side;

tracecast::tc_metrics! {
    /// Duration of served requests.
    static SERVER_DURATION: Histogram<(keys::briefly_served,)> = "tc_http_server_duration_seconds" { budget: 8500 };
    /// Duration of client requests.
    static CLIENT_DURATION: Histogram<(keys::briefly_called,)> = "tc_http_client_duration_seconds" { budget: 8500 };
    /// Time until the first byte of a response was sent.
    static SERVER_FIRST_BYTE: Histogram<(keys::briefly_served,)> = "tc_http_server_first_byte_seconds" { budget: 8500 };
    /// Time until the first byte of a response arrived.
    static CLIENT_FIRST_BYTE: Histogram<(keys::briefly_called,)> = "tc_http_client_first_byte_seconds" { budget: 8500 };
    /// Requests being served.
    static SERVER_ACTIVE: UpDownCounter = "tc_http_server_active";
}

/// Returns whether any metric of this side is on.
#[inline]
pub(crate) fn are_on(side: Side) -> bool {
    is_measuring() && is_any_on(side)
}

fn is_any_on(side: Side) -> bool {
    match side {
        Side::Server => {
            SERVER_REQUEST_DURATION.is_on()
                || SERVER_DURATION.is_on()
                || SERVER_FIRST_BYTE.is_on()
                || SERVER_ACTIVE.is_on()
        }
        Side::Client => CLIENT_REQUEST_DURATION.is_on() || CLIENT_DURATION.is_on() || CLIENT_FIRST_BYTE.is_on(),
    }
}

/// An exchange that is measured.
pub(crate) struct Measured {
    side: Side,
    conventions: Conventions,
    /// Whether the exchange was counted as being served.
    active: bool,
}

impl Measured {
    /// Begins to measure; `None` if all metrics of this side are off.
    pub(crate) fn begin(side: Side) -> Option<Self> {
        if !is_measuring() {
            return None;
        }
        let active = side == Side::Server && SERVER_ACTIVE.is_on();
        if !active && !is_any_on(side) {
            return None;
        }
        Some(Measured { side, conventions: conventions::http(), active })
    }

    /// Counts the exchange as being served, from this place.
    #[inline(always)]
    pub(crate) fn count_active(&self, place: Place) -> Place {
        if self.active { place.count(|| SERVER_ACTIVE.add(1, ())) } else { place }
    }

    /// Records the duration and, if measured, the time to the first byte; counts the exchange as no longer being
    /// served.
    pub(crate) fn end(&self, set: Set, seconds: f64, first_byte: Option<f64>) {
        if self.conventions.stable() {
            match self.side {
                Side::Server => SERVER_REQUEST_DURATION.record(seconds, (Served::of(set),)),
                Side::Client => CLIENT_REQUEST_DURATION.record(seconds, (Called::of(set),)),
            }
        }
        let (ours, brief) = (self.conventions.old().then_some(seconds), set.brief());
        match self.side {
            Side::Server => {
                ours.into_iter().for_each(|seconds| SERVER_DURATION.record(seconds, (BrieflyServed::of(brief),)));
                first_byte.into_iter().for_each(|after| SERVER_FIRST_BYTE.record(after, (BrieflyServed::of(brief),)));
            }
            Side::Client => {
                ours.into_iter().for_each(|seconds| CLIENT_DURATION.record(seconds, (BrieflyCalled::of(brief),)));
                first_byte.into_iter().for_each(|after| CLIENT_FIRST_BYTE.record(after, (BrieflyCalled::of(brief),)));
            }
        }
        if self.active {
            SERVER_ACTIVE.add(-1, ());
        }
    }
}
