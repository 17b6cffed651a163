//! What readers see of metrics. There is one metering in a process, so tests that start it take turns.
//!
//! The modules share a catalogue: a metric that two of them declare is one metric, so they use different names.

#[path = "../support/metered.rs"]
mod metered;
#[path = "../support/turn.rs"]
mod turn;

pub mod agree_with_spans;
mod exemplars;
mod in_the_catalogue;
pub mod joint_labels;
mod lose_nothing;
mod observed;
mod prometheus_text;
pub mod start_and_stop;
mod test_kit;
pub mod with_spans;
