//! Methods and statuses as labels with a bounded number of values.

use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

use tonic::Code;
use tracecast::keys::rpc;
use tracecast::prelude::TcLabel;
use tracecast::{Key, Label};

use crate::grpc::status;
use crate::learnt::OTHER;

/// The maximum number of methods with a series of their own.
const METHODS: usize = 63;

/// A method with its service as one label, `store.v1.Store/Get`; `_OTHER` if it is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodLabel(u32);

impl MethodLabel {
    pub(crate) const OTHER: MethodLabel = MethodLabel(METHODS as u32);

    /// Returns the label of a method that has answered or was given at the start; `OTHER` if all labels are taken.
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
    fn every_status_has_its_name() {
        let names: Vec<_> = (0..StatusName::CARDINALITY).map(StatusName::value).collect();
        assert_eq!((&*names[0], &*names[4], &*names[16]), ("OK", "DEADLINE_EXCEEDED", "UNAUTHENTICATED"));
    }
}
