//! Fuzzing of parsers, in tests only: inputs are mutations of seeds, and each input is checked for a property.
//!
//! The targets are in modules named `fuzz` beside their parsers; `.ci/nightly` runs them with a million cases each.

mod cost;
mod driver;

pub(crate) use self::cost::{assert_linear, within};
pub(crate) use self::driver::{Random, mutated, run};
