//! Declarations of a program: callsites, keys, labels, values and metrics, the registry in which the linker collects
//! them, and the switches that enable them.
//!
//! Declarations are statics that the macros write. They are never freed, so everything here may be read by any thread at any
//! time. `switch` changes the flag of a declaration; `cells` holds the values of metrics, and `observe` the callbacks of
//! observable gauges. This room uses only `base`.

pub(crate) mod amount;
pub(crate) mod array;
pub(crate) mod callsite;
pub(crate) mod cells;
pub(crate) mod filter;
pub(crate) mod interned;
pub(crate) mod key;
pub mod keys;
pub(crate) mod label;
pub(crate) mod meter;
pub(crate) mod metric;
pub(crate) mod observe;
pub(crate) mod registry;
pub(crate) mod scope;
pub(crate) mod sections;
pub(crate) mod switch;
pub(crate) mod value;
