//! Labels, errors and keys.

use std::fmt;

use tracecast::{TcError, TcLabel};

/// Closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TcLabel)]
pub enum Source {
    /// Another node.
    Remote,
    /// A disk.
    LocalDisk,
}

/// With names of its own, and one for the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TcLabel)]
#[tc_label(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Tier {
    /// The best.
    FirstClass,
    /// Not the best.
    #[tc_label(rename = "eco")]
    Economy,
    /// Any other.
    #[tc_label(other)]
    Other,
}

tracecast::tc_label_for! {
    /// An enum of another crate.
    pub struct Order for core::cmp::Ordering {
        Less => "less",
        Equal | Greater => "not_less",
    }
}

/// What may go wrong.
#[derive(Debug, PartialEq, Eq, TcError)]
pub enum StoreError {
    /// Nothing came.
    Timeout(u32),
    /// Not there.
    NotFound {
        /// What.
        id: String,
    },
    /// No more.
    Gone,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// An error that borrows.
#[derive(Debug, TcError)]
pub struct Refused<'a, T>(pub &'a T)
where
    T: Clone + Send;

/// Keys of every kind.
pub mod keys {
    use super::{Order, Source, Tier};

    tracecast::tc_keys! {
        /// Where from.
        pub label source: Source = "test.source";
        /// How good.
        pub label tier: Tier = "test.tier";
        /// In which order.
        pub label order: Order = "test.order";
        /// Whether.
        pub label hit: bool = "test.hit";
        /// Whether, if known.
        pub label maybe: Option<bool> = "test.maybe";
        /// Which.
        pub label device: Index<16> = "test.device";
        /// Whose.
        pub label tenant: Interned<32> = "test.tenant";
        /// What.
        pub id artifact: str = "test.artifact" { baggage };
        /// How much.
        pub measure bytes: u64 = "test.bytes";
        /// By how much.
        pub measure change: i64 = "test.change";
        /// How well.
        pub measure ratio: f64 = "test.ratio";
        id private: str = "test.private";
    }

    /// Uses the private key.
    #[tracecast::tc_span("Declared/Private", attrs(private = "x"))]
    pub fn with_private() {}
}
