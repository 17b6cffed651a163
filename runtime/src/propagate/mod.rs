//! Contexts that leave or enter the process: headers, carriers, and the names that layers write.
//!
//! Invalid input means "no parent" and is never an error for the caller. `formats` has the parsers.

pub(crate) mod carrier;
pub mod conventions;
pub(crate) mod format;
pub mod propagation;
