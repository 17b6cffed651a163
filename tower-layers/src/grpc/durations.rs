//! The conventional histograms of calls' durations, and the label sets for them.
//!
//! Their names are those of the version of the semantic conventions after 1.44.

use std::borrow::Cow;

use tonic::Code;
use tracecast::keys::error::error_type;
use tracecast::keys::http::{server_address, server_port};
use tracecast::{Key, Label};

use crate::grpc::conventions::{full_method, status_name, system};
use crate::grpc::label::{MethodLabel, StatusName};
use crate::grpc::{servers, status};
use crate::sets::{OVERFLOW, Sets, Target};
use crate::side::Side;

tracecast::tc_keys! {
    // These two are sets of attributes, whose names are those of their parts.
    /// The status of a served call: `rpc.status_code`, and `error.type` if it is an error.
    pub(crate) label served_status: ServedStatus = "rpc.server.call";
    /// A client call: method, server, status and error.
    pub(crate) label called: Called = "rpc.client.call";
}

tracecast::tc_metrics! {
    /// Duration of served calls.
    pub(crate) static SERVER_CALL_DURATION: Histogram<(system, full_method, served_status)> = "rpc.server.call.duration" {
        unit: "s", buckets: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10], budget: 20000
    };
    /// Duration of client calls.
    pub(crate) static CLIENT_CALL_DURATION: Histogram<(system, called)> = "rpc.client.call.duration" {
        unit: "s", buckets: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10], budget: 17500
    };
}

/// The status of a served call, and `error.type` with the same value if the status is an error on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ServedStatus(pub(crate) Code);

impl Label for ServedStatus {
    const CARDINALITY: usize = StatusName::CARDINALITY;
    const PARTS: &'static [&'static str] = &[status_name::META.name, error_type::META.name];

    fn ordinal(self) -> usize {
        StatusName(self.0).ordinal()
    }

    fn value(ordinal: usize) -> Cow<'static, str> {
        StatusName::value(ordinal)
    }

    fn part(ordinal: usize, part: usize) -> Cow<'static, str> {
        if part == 0 { StatusName::value(ordinal) } else { error(Side::Server, Code::from_i32(ordinal as i32)) }
    }
}

/// Returns the value of `error.type`, empty if the status is no error on this side.
fn error(side: Side, code: Code) -> Cow<'static, str> {
    Cow::Borrowed(if side.is_error(code) { status::name(code) } else { "" })
}

/// The label set of a client call. A set gets an ordinal when it is first seen, because not every server has every
/// method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Called(u32);

/// The maximum number of sets with a series of their own.
const CALLED: usize = 1024;
static SEEN: Sets<CALLED> = Sets::new();
/// Set in each word, so that no word is zero.
const IS_SET: u64 = 1 << 63;

impl Called {
    pub(crate) fn of(method: MethodLabel, server: Target, code: Code) -> Self {
        let word = IS_SET | server.bits() << 32 | (code as u64) << 16 | u64::from(method.bits());
        Called(SEEN.place(word) as u32)
    }
}

impl Label for Called {
    const CARDINALITY: usize = CALLED + 1;
    const PARTS: &'static [&'static str] = &[
        full_method::META.name,
        server_address::META.name,
        server_port::META.name,
        status_name::META.name,
        error_type::META.name,
        OVERFLOW,
    ];
    const LEARNT: bool = true;

    fn ordinal(self) -> usize {
        self.0 as usize
    }

    fn value(ordinal: usize) -> Cow<'static, str> {
        let parts = (0..Self::PARTS.len()).map(|part| Self::part(ordinal, part));
        Cow::Owned(parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" "))
    }

    fn part(ordinal: usize, part: usize) -> Cow<'static, str> {
        let Some(word) = SEEN.get(ordinal) else {
            return Cow::Borrowed(if Self::PARTS.get(part) == Some(&OVERFLOW) { "true" } else { "" });
        };
        let code = Code::from_i32((word >> 16 & 0xff) as i32);
        let server = || servers::text(Target::from_bits((word & !IS_SET) >> 32));
        match part {
            0 => MethodLabel::value((word & 0xffff) as usize),
            1 => Cow::Owned(server().0),
            2 => Cow::Owned(server().1),
            3 => Cow::Borrowed(status::name(code)),
            4 => error(Side::Client, code),
            _ => Cow::Borrowed(""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learnt::OTHER;

    #[test]
    fn a_call_that_was_made_has_the_labels_of_the_conventions() {
        let names =
            ["rpc.method", "server.address", "server.port", "rpc.status_code", "error.type", "otel.metric.overflow"];
        assert_eq!(Called::PARTS, names);
        let server = servers::find(("label.test", Some(50051)));
        servers::learn(&server);
        let of = |server, code| Called::of(MethodLabel::of("label.v1.Store/Put"), server, code).ordinal();
        let parts = |ordinal| [0, 1, 2, 3, 4, 5].map(|part| Called::part(ordinal, part));
        let known = of(servers::target(&server), Code::Ok);
        assert_eq!(parts(known), ["label.v1.Store/Put", "label.test", "50051", "OK", "", ""]);
        let failed = of(Target::None, Code::NotFound);
        assert_eq!(parts(failed), ["label.v1.Store/Put", "", "", "NOT_FOUND", "NOT_FOUND", ""]);
        assert_eq!(Called::value(failed), "label.v1.Store/Put NOT_FOUND NOT_FOUND");
        assert_eq!(parts(of(Target::Other, Code::Ok))[1..3], [OTHER, ""]);
        assert_eq!(parts(CALLED), ["", "", "", "", "", "true"]);
    }

    #[test]
    fn not_every_status_is_an_error_of_the_server() {
        let parts = |code: Code| [0, 1].map(|part| ServedStatus::part(ServedStatus(code).ordinal(), part));
        assert_eq!(ServedStatus::PARTS, ["rpc.status_code", "error.type"]);
        assert_eq!(parts(Code::NotFound), ["NOT_FOUND", ""]);
        assert_eq!(parts(Code::Internal), ["INTERNAL", "INTERNAL"]);
    }
}
