//! How much one span may hold. What exceeds a limit is left out and counted on the span.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Limits of a span. Besides them, a whole span has to fit into 16 KiB.
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
    /// Attributes of the span itself.
    pub attributes: u32,
    /// Events.
    pub events: u32,
    /// Links.
    pub links: u32,
    /// Attributes of one event.
    pub attributes_per_event: u32,
    /// Bytes of one text, also of each text of a list; the rest is cut off between two characters.
    ///
    /// Besides that a list keeps its first 1,024 elements, of these no more than fit into 8 KiB, and 4 KiB of a text. A list that is
    /// cut counts as a dropped attribute.
    pub value_bytes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { attributes: 128, events: 128, links: 128, attributes_per_event: 128, value_bytes: 4096 }
    }
}

/// Elements of one list that are kept.
pub(crate) const LIST_ELEMENTS: usize = 1024;
/// Bytes that they take: eight for a number, one for a flag, and for a text four more than it has.
pub(crate) const LIST_BYTES: usize = 8192;
/// Bytes of one text of a list, however many a text on its own may have.
pub(crate) const LIST_TEXT_BYTES: usize = 4096;

pub(crate) struct Current {
    pub(crate) attributes: AtomicU32,
    pub(crate) events: AtomicU32,
    pub(crate) links: AtomicU32,
    pub(crate) attributes_per_event: AtomicU32,
    /// Of links that others make; ours have none.
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

/// Limits the attributes of a link.
#[cfg(has_otlp)]
pub(crate) fn set_attributes_per_link(limit: Option<u32>) {
    CURRENT.attributes_per_link.store(limit.unwrap_or(128), Relaxed);
}

/// Bytes of one text.
pub(crate) fn value_bytes() -> usize {
    CURRENT.value_bytes.load(Relaxed) as usize
}
