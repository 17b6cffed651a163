//! A small tensor store: the processes that the demo runs, instrumented through the public API only.

mod client;
mod daemon;
mod disk;
mod error;
mod global;
mod keys;
mod messages;
mod p2p;
mod pool;
mod role;

pub(crate) use self::client::{Fleet, run as client};
pub(crate) use self::daemon::{Settings as DaemonSettings, run as daemon};
pub(crate) use self::global::run as global_store;
pub(crate) use self::role::{Failure, LISTENING};
