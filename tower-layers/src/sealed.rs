//! Keeps traits of this crate from being implemented elsewhere, so that they may get more methods.

/// A trait that requires this one cannot be implemented outside of the crate, which does not export it.
pub trait Sealed {}
