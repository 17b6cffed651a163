//! The store's own keys, besides Tracecast's.

pub(crate) use tracecast::keys::{
    Location, device, location, size_bytes,
    tensor::{SourceType, artifact, replica, source},
};

tracecast::tc_keys! {
    /// What a user does from beginning to end. It travels with every call, so that all spans of all processes have it.
    pub(crate) id session: str = "tc.session.id" { baggage };
    /// Which part of a replica it is, from 0 on.
    pub(crate) measure batch: u64 = "tc.batch.number";
}
