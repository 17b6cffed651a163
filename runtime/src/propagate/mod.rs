//! Contexts that leave or enter the process: headers, carriers, and the names that layers write.
//!
//! Invalid input gives a context without a parent, never an error for the caller. The parsers are in `formats`.

pub(crate) mod carrier;
pub mod conventions;
pub(crate) mod format;
pub mod propagation;
