//! Which side of a call a layer is on.

use tracecast::Kind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Server,
    Client,
}

impl Side {
    /// That of its spans.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Side::Server => Kind::Server,
            Side::Client => Kind::Client,
        }
    }
}
