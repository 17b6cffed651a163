//! The recorder: open spans in blocks, ended spans as records in chunks, time and ids.
//!
//! A block has one owner and a chunk one writer, and no thread waits for them. Recording a span allocates nothing, takes no lock
//! and makes no system call. Rooms above open spans through `local` and read records through `recorder`.

pub(crate) mod block;
pub(crate) mod bridge;
pub(crate) mod chunk;
pub(crate) mod clock;
pub(crate) mod fields;
pub(crate) mod finished;
pub(crate) mod heartbeat;
pub(crate) mod ids;
pub(crate) mod item;
pub(crate) mod layout;
pub(crate) mod limits;
pub(crate) mod local;
pub(crate) mod polls;
pub(crate) mod propagated;
pub(crate) mod published;
pub(crate) mod recorder;
pub(crate) mod sampling;
pub(crate) mod tail;
pub(crate) mod threads;
#[cfg(has_otlp)]
pub(crate) mod watch;
