//! The store's own keys, besides Tracecast's.

pub(crate) use tracecast::keys::{
    Location, device, location, size_bytes,
    tensor::{SourceType, artifact, replica, source},
};

tracecast::tc_keys! {
    /// A user's session. It travels with every call, so that all spans of all processes have it.
    pub(crate) id session: str = "tc.session.id" { baggage };
    /// The number of a replica's part, from 0.
    pub(crate) measure batch: u64 = "tc.batch.number";
}
