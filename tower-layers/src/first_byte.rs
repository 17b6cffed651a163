//! The time to the first byte of a response, for layers that enable it.

use bytes::Buf;
use tracecast::__layers::Moment;

use crate::place::Place;

tracecast::tc_keys! {
    /// Seconds from the beginning of a call to the first byte of its response's body.
    pub(crate) measure first_byte: f64 = "tc.response.first_byte_seconds";
}

/// The state of the measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FirstByte {
    /// The layer does not measure the time.
    Ignored,
    Awaited,
    /// Seconds from the beginning of the call.
    After(f64),
}

impl FirstByte {
    pub(crate) fn new(is_wanted: bool) -> Self {
        if is_wanted { FirstByte::Awaited } else { FirstByte::Ignored }
    }

    #[cfg(feature = "grpc")]
    pub(crate) fn is_wanted(self) -> bool {
        !matches!(self, FirstByte::Ignored)
    }

    /// Measures the time at the first part of the response that has data. The attribute is set at once, because the
    /// span may be replaced by another.
    #[inline]
    pub(crate) fn read(&mut self, data: &impl Buf, began: Moment, place: &mut Place) {
        if matches!(self, FirstByte::Awaited) && data.has_remaining() {
            let after = began.seconds_to(Moment::now());
            *self = FirstByte::After(after);
            if let Place::Span(span) = place {
                span.set(first_byte, after);
            }
        }
    }

    pub(crate) fn after(self) -> Option<f64> {
        match self {
            FirstByte::After(after) => Some(after),
            FirstByte::Ignored | FirstByte::Awaited => None,
        }
    }
}
