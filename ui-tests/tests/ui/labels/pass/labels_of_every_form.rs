//! Renamed values, an `other`, raw identifiers, discriminants, and an enum of another crate.

use tracecast::{ClosedLabel, TcLabel, keys, tc_label_for, tc_keys, tc_span};

#[derive(Clone, Copy, TcLabel)]
#[tc_label(rename_all = "kebab-case")]
#[repr(u8)]
enum Source {
    LocalDisk = 4,
    #[tc_label(rename = "peer")]
    r#Remote,
    #[tc_label(other)]
    Unknown,
}

tc_label_for! {
    /// How two replicas compare.
    #[derive(Hash)]
    pub struct Order for std::cmp::Ordering { Less | Greater => "different", _ => "equal" }
}

tc_keys! {
    label source: Source = "tc.source";
    label order: Order = "tc.order";
}

#[tc_span("StoreDaemon/Load", attrs(source = Source::LocalDisk, order = &ordering, keys::device = 4_u8))]
fn load(ordering: std::cmp::Ordering) {
    let _ = (Source::r#Remote, Source::Unknown);
}

pub(crate) fn main() {
    load(1.cmp(&2));
    assert_eq!(Source::VALUES, ["local-disk", "peer", "unknown"]);
    assert_eq!(Order::VALUES, ["different", "equal"]);
}
