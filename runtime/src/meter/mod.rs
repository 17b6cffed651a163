//! Metrics as programs use them: instruments, measured calls, observed gauges, and readers that add up the cells.
//!
//! Most threads have a stripe of a metric's cells to themselves, and the others share a few; a reader adds up the stripes
//! and does not write to them. A metric that is off costs a load and a branch.

pub(crate) mod capture;
pub(crate) mod exemplar;
pub(crate) mod exposition;
pub(crate) mod instrument;
pub(crate) mod measure;
pub(crate) mod metering;
pub(crate) mod reader;
pub(crate) mod snapshot;
