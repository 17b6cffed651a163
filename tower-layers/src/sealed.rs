//! Prevents other crates from implementing this crate's traits, so that methods can be added to them.

/// The supertrait of sealed traits. It is not exported, so other crates cannot implement them.
pub trait Sealed {}
