//! The propagation formats, as a set of bits.

/// A format in which contexts are propagated.
///
/// ```
/// # #[cfg(feature = "otlp")] {
/// use tracecast::config::{Config, Propagator};
///
/// let config = Config::new().with_propagators(vec![Propagator::TraceContext, Propagator::B3]);
/// assert_eq!(config.get("propagators").as_deref(), Some("[TraceContext, B3]"));
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[cfg_attr(not(has_otlp), expect(unreachable_pub, reason = "the configuration shows it"))]
#[non_exhaustive]
pub enum Propagator {
    /// W3C Trace Context.
    TraceContext = 1,
    /// W3C Baggage.
    Baggage = 2,
    /// B3 in one header.
    B3 = 4,
    /// B3 in several headers.
    B3Multi = 8,
}

impl Propagator {
    /// Returns whether the set `formats` contains this format.
    pub(crate) fn is_in(self, formats: u8) -> bool {
        formats & self as u8 != 0
    }
}
