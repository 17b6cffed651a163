//! From `init` to the backend: the export thread, transports, the spool, the console, and what is known of the process.
//!
//! One thread takes what was recorded, encodes and sends it; callers never wait for it, and its memory is bounded. Only
//! `shutdown` is above this room.

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
