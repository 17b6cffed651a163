//! The side of a call that a layer is on.

use tracecast::Kind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Server,
    Client,
}

impl Side {
    /// Returns the kind of this side's spans.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Side::Server => Kind::Server,
            Side::Client => Kind::Client,
        }
    }
}
