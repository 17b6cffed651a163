//! The XIDs with their own series and description.
//!
//! The list is from NVIDIA's "XID Errors" (<https://docs.nvidia.com/deploy/xid-errors/>: the catalogue, and the list for older
//! GPUs) of November 2026: the XIDs on which operators or developers should act according to the document, and all of NVLink.
//! Other XIDs are `other` in metrics; log lines, events and spans have their numbers.

use std::borrow::Cow;

use tracecast::Label;

/// The XIDs by number, each with a short description.
const XIDS: [(u64, &str); 49] = [
    (8, "GPU stopped processing"),
    (13, "graphics engine exception"),
    (31, "GPU memory page fault"),
    (32, "invalid or corrupted push buffer stream"),
    (38, "driver firmware error"),
    (43, "GPU stopped processing"),
    (44, "graphics engine fault during context switch"),
    (45, "preemptive cleanup after earlier errors"),
    (46, "GPU stopped processing"),
    (48, "double bit ECC error"),
    (61, "internal micro-controller breakpoint"),
    (62, "internal micro-controller halt"),
    (63, "row remapping or page retirement"),
    (64, "row remapping or page retirement failed"),
    (68, "video decoder exception"),
    (69, "graphics engine class error"),
    (74, "NVLink error"),
    (79, "GPU has fallen off the bus"),
    (92, "high rate of single bit ECC errors"),
    (94, "contained memory error"),
    (95, "uncontained memory error"),
    (109, "context switch timeout"),
    (110, "security fault"),
    (119, "GSP RPC timeout"),
    (120, "GSP error"),
    (121, "C2C link error"),
    (122, "SPI RPC read failure"),
    (123, "SPI RPC write failure"),
    (136, "ALI training of a link failed"),
    (137, "NVLink privilege error"),
    (140, "unrecovered ECC error"),
    (143, "GPU initialization error"),
    (144, "NVLink: SAW error"),
    (145, "NVLink: RLW error"),
    (146, "NVLink: TLW error"),
    (147, "NVLink: TREX error"),
    (148, "NVLink: NVLPW control error"),
    (149, "NVLink: NETIR error"),
    (150, "NVLink: MSE error"),
    (154, "recovery action changed"),
    (155, "NVLink: error defined by software"),
    (156, "resource retirement"),
    (157, "resource retirement failed"),
    (158, "GPU fatal timeout"),
    (166, "NVLink: traffic before encryption"),
    (167, "PCIe fatal timeout"),
    (170, "NVLink: interrupt in confidential computing mode"),
    (171, "uncorrectable DRAM error"),
    (172, "uncorrectable SRAM error"),
];

/// An XID, or `other`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Xid(usize);

impl Xid {
    pub(crate) fn new(number: u64) -> Self {
        Xid(XIDS.iter().position(|(known, _)| *known == number).unwrap_or(XIDS.len()))
    }
}

/// Returns the description of an XID, if the list has it.
pub(crate) fn name(number: u64) -> Option<&'static str> {
    XIDS.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}

impl Label for Xid {
    const CARDINALITY: usize = XIDS.len() + 1;

    fn ordinal(self) -> usize {
        self.0
    }

    fn value(ordinal: usize) -> Cow<'static, str> {
        XIDS.get(ordinal).map_or("other".into(), |(number, _)| number.to_string().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_order_and_has_what_operators_ask_for() {
        assert!(XIDS.is_sorted_by(|(first, _), (second, _)| first < second));
        for number in [46, 48, 63, 64, 74, 79, 94, 95, 110, 119, 137, 143, 145, 149, 154] {
            assert!(name(number).is_some_and(|name| !name.is_empty()), "{number}");
            assert_eq!(Xid::value(Xid::new(number).ordinal()), number.to_string());
        }
        assert_eq!((name(4711), &*Xid::value(Xid::new(4711).ordinal())), (None, "other"));
    }
}
