//! Methods and statuses as labels with a bounded number of values.

use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

use tonic::Code;
use tracecast::keys::error::error_type;
use tracecast::keys::http::{server_address, server_port};
use tracecast::keys::rpc;
use tracecast::prelude::TcLabel;
use tracecast::{Key, Label};

use crate::grpc::conventions::{full_method, status_name};
use crate::grpc::{servers, status};
use crate::learnt::OTHER;
use crate::sets::{OVERFLOW, Sets, Target};
use crate::side::Side;

/// The most methods that have a series of their own.
const METHODS: usize = 63;

/// A method with its service as one label, `store.v1.Store/Get`; `_OTHER` if it is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodLabel(u32);

impl MethodLabel {
    pub(crate) const OTHER: MethodLabel = MethodLabel(METHODS as u32);

    /// Returns the label of a method that exists: it has answered or was given at the start.
    pub(crate) fn of(text: &str) -> Self {
        let mut texts = TEXTS.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = texts.iter().position(|known| *known == text) {
            return MethodLabel(known as u32);
        }
        if texts.len() == METHODS {
            return MethodLabel::OTHER;
        }
        texts.push(String::from(text).leak());
        MethodLabel(texts.len() as u32 - 1)
    }

    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    pub(crate) fn from_bits(bits: u32) -> Self {
        MethodLabel(bits.min(METHODS as u32))
    }

    fn text(ordinal: usize) -> &'static str {
        let texts = TEXTS.read().unwrap_or_else(PoisonError::into_inner);
        texts.get(ordinal).copied().unwrap_or(OTHER)
    }
}

/// The methods by ordinal, kept until the process exits.
static TEXTS: RwLock<Vec<&'static str>> = RwLock::new(Vec::new());

impl Label for MethodLabel {
    const CARDINALITY: usize = METHODS + 1;
    const LEARNT: bool = true;

    fn ordinal(self) -> usize {
        self.0 as usize
    }

    fn value(ordinal: usize) -> Cow<'static, str> {
        Cow::Borrowed(MethodLabel::text(ordinal))
    }
}

/// A method as two attributes, `rpc.service` and `rpc.method`. Both share one ordinal, because a service does not have
/// every method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceMethod(pub(crate) MethodLabel);

impl Label for ServiceMethod {
    const CARDINALITY: usize = MethodLabel::CARDINALITY;
    const PARTS: &'static [&'static str] = &[rpc::service::META.name, rpc::method::META.name];
    const LEARNT: bool = true;

    fn ordinal(self) -> usize {
        self.0.ordinal()
    }

    fn value(ordinal: usize) -> Cow<'static, str> {
        MethodLabel::value(ordinal)
    }

    fn part(ordinal: usize, part: usize) -> Cow<'static, str> {
        let (service, method) = MethodLabel::text(ordinal).rsplit_once('/').unwrap_or((OTHER, OTHER));
        Cow::Borrowed(if part == 0 { service } else { method })
    }
}

/// A status as a label; its value is the status's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusName(pub(crate) Code);

impl Label for StatusName {
    const CARDINALITY: usize = 17;

    fn ordinal(self) -> usize {
        self.0 as usize
    }

    fn value(ordinal: usize) -> Cow<'static, str> {
        Cow::Borrowed(status::name(Code::from_i32(ordinal as i32)))
    }
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

/// Label sets of client calls, each with an ordinal when it is first seen: not every server has every method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Called(u32);

/// The most sets that have a series of their own.
const CALLED: usize = 1024;
static SEEN: Sets<CALLED> = Sets::new();
/// Set in each word, so that none is zero.
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

/// The protocol of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TcLabel)]
#[non_exhaustive]
pub enum System {
    /// gRPC.
    Grpc,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_and_its_service_are_one_label_of_two_parts() {
        let known = MethodLabel::of("label.v1.Store/Get").ordinal();
        let parts = |ordinal| [0, 1].map(|part| ServiceMethod::part(ordinal, part));
        assert_eq!(MethodLabel::value(known), "label.v1.Store/Get");
        assert_eq!(parts(known), ["label.v1.Store", "Get"]);
        assert_eq!(parts(MethodLabel::OTHER.ordinal()), [OTHER, OTHER]);
    }

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

    #[test]
    fn every_status_has_its_name() {
        let names: Vec<_> = (0..StatusName::CARDINALITY).map(StatusName::value).collect();
        assert_eq!((&*names[0], &*names[4], &*names[16]), ("OK", "DEADLINE_EXCEEDED", "UNAUTHENTICATED"));
    }
}
