//! Limits of one span. Items that exceed a limit are dropped and counted on the span.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Limits of a span. In addition, a whole span has to fit into 16 KiB.
///
/// ```
/// use tracecast::testing::RecordingConfig;
///
/// let config = RecordingConfig::default().with_limits(|limits| {
///     assert_eq!(limits.attributes, 128);
///     limits.value_bytes = 256;
/// });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum number of attributes of a span.
    pub attributes: u32,
    /// The maximum number of events of a span.
    pub events: u32,
    /// The maximum number of links of a span.
    pub links: u32,
    /// The maximum number of attributes of one event.
    pub attributes_per_event: u32,
    /// The maximum number of bytes of a text, also of each text of a list. Longer texts are cut between two characters.
    ///
    /// In addition a list keeps at most its first 1,024 elements, at most 8 KiB of them, and at most 4 KiB of each text. A list
    /// that is cut counts as a dropped attribute.
    pub value_bytes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { attributes: 128, events: 128, links: 128, attributes_per_event: 128, value_bytes: 4096 }
    }
}

/// The maximum number of elements of a list.
pub(crate) const LIST_ELEMENTS: usize = 1024;
/// The maximum size of a list in bytes: eight for a number, one for a flag, and for a text its length plus four.
pub(crate) const LIST_BYTES: usize = 8192;
/// The maximum number of bytes of a text in a list, even if the limit of a single text is higher.
pub(crate) const LIST_TEXT_BYTES: usize = 4096;

pub(crate) struct Current {
    pub(crate) attributes: AtomicU32,
    pub(crate) events: AtomicU32,
    pub(crate) links: AtomicU32,
    pub(crate) attributes_per_event: AtomicU32,
    /// The maximum number of attributes of an external span's link; our own links have none.
    #[cfg_attr(not(has_otlp), expect(dead_code, reason = "only links of others have attributes"))]
    pub(crate) attributes_per_link: AtomicU32,
    pub(crate) value_bytes: AtomicU32,
}

/// The limits in force.
pub(crate) static CURRENT: Current = Current {
    attributes: AtomicU32::new(128),
    events: AtomicU32::new(128),
    links: AtomicU32::new(128),
    attributes_per_event: AtomicU32::new(128),
    attributes_per_link: AtomicU32::new(128),
    value_bytes: AtomicU32::new(4096),
};

pub(crate) fn set(limits: Limits) {
    CURRENT.attributes.store(limits.attributes, Relaxed);
    CURRENT.events.store(limits.events, Relaxed);
    CURRENT.links.store(limits.links, Relaxed);
    CURRENT.attributes_per_event.store(limits.attributes_per_event, Relaxed);
    CURRENT.value_bytes.store(limits.value_bytes, Relaxed);
}

/// Sets the maximum number of attributes of an external span's link; 128 if `limit` is `None`.
#[cfg(has_otlp)]
pub(crate) fn set_attributes_per_link(limit: Option<u32>) {
    CURRENT.attributes_per_link.store(limit.unwrap_or(128), Relaxed);
}

/// Returns the maximum number of bytes of a text.
pub(crate) fn value_bytes() -> usize {
    CURRENT.value_bytes.load(Relaxed) as usize
}
