//! Receivers of OTLP for tests. [`Receiver`] keeps what it is sent over HTTP and answers as it is told; [`Faulty`] speaks HTTP
//! and gRPC, and fails in the way it is told to.
//!
//! Nothing here depends on Tracecast: what was sent is read by somebody else's decoder.
// There is no network under loom, and no test there needs one.
#![cfg(not(loom))]

mod codec;
mod exported;
mod faulty;
mod http;
mod ports;

pub use self::codec::Passing;
pub use self::exported::{Exported, attribute};
pub use self::faulty::{Faulty, Folder, Kept, Mood, distinct, wait_until};
pub use self::http::{Receiver, Request, read_request};
pub use self::ports::{NOBODY, free_port};
