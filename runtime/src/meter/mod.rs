//! Metrics as programs use them: instruments, measured calls, observed gauges, and readers that add up the cells.
//!
//! A thread writes only its own stripe of a metric's cells; a reader adds up the stripes and never writes. A metric
//! that is off costs a load and a branch.

pub(crate) mod capture;
pub(crate) mod exemplar;
pub(crate) mod exposition;
pub(crate) mod instrument;
pub(crate) mod measure;
pub(crate) mod metering;
pub(crate) mod reader;
pub(crate) mod snapshot;
