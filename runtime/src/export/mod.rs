//! Export: `init`, the export thread, transports, the spool, the console and the resource.
//!
//! The export thread takes recorded telemetry, encodes and sends it. Callers never wait for it, and its memory is
//! bounded. Of the rooms of this crate, only `shutdown` uses this one.

pub(crate) mod account;
pub(crate) mod console;
pub(crate) mod init;
pub(crate) mod pipeline;
pub(crate) mod resource;
pub(crate) mod runtimes;
pub(crate) mod scrape;
pub(crate) mod self_metrics;
pub(crate) mod spool;
pub(crate) mod stalls;
pub(crate) mod transport;
