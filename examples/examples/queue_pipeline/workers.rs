//! The workers' handling of an event.

use std::thread;
use std::time::Duration;

use tracecast::prelude::*;
use tracecast::{Carrier, current};

use crate::table::{Event, State, Table};

mod keys {
    tracecast::tc_keys! {
        /// The node.
        pub id node: str = "k8s.node.name";
        /// Evicted pods.
        pub measure evicted: u64 = "tc.pods.evicted";
    }
}

/// How long a node's last pod takes to terminate.
const DRAIN: Duration = Duration::from_millis(1800);

/// Starts the trace of an event.
#[tc_span("Detector/ReportFault", attrs(keys::node = node))]
pub(crate) fn detect(table: &Table, node: &str) -> rusqlite::Result<()> {
    tracing::warn!(node, "a GPU fell off the bus");
    table.insert(node, &Carrier::inject())
}

#[tc_span("Quarantine/Cordon", parent = event.carrier.extract(), attrs(keys::node = &event.node))]
pub(crate) fn quarantine(table: &Table, event: &Event) -> rusqlite::Result<()> {
    table.hand_on(event, State::Quarantined, &Carrier::inject())
}

/// A long session: while it is in progress, a marker `Drainer/DrainNode/open` is recorded every second.
#[tc_span("Drainer/DrainNode", parent = event.carrier.extract(), heartbeat = "1s", attrs(keys::node = &event.node))]
pub(crate) fn drain(table: &Table, event: &Event) -> rusqlite::Result<()> {
    thread::sleep(DRAIN);
    current().set(keys::evicted, 3_u64);
    table.hand_on(event, State::Drained, &Carrier::inject())
}

/// Repairs several events at once: all are linked, none is the parent.
#[tc_span("Repairer/RebootBatch", links(events.iter().map(|event| event.carrier.extract()).collect::<Vec<_>>()))]
pub(crate) fn repair(table: &Table, events: &[Event]) -> rusqlite::Result<()> {
    events.iter().try_for_each(|event| table.hand_on(event, State::Repaired, &Carrier::inject()))
}
