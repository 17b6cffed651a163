//! Instrumentation scopes: the crate that declares our spans and metrics, and the library of third-party ones.

use crate::declare::value::OwnedValue;

/// The instrumentation scope of our own spans and metrics: the crate that declares them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CrateScope {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
}

impl CrateScope {
    /// This crate, for what is declared nowhere: spans with names that are made at run time.
    pub(crate) const OWN: CrateScope = CrateScope { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") };
}

/// The instrumentation scope of third-party spans and instruments: a library and its description.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ForeignScope {
    /// Its name.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: Option<String>,
    /// The URL of the schema that defines its attribute names.
    pub(crate) schema_url: Option<String>,
    /// Its attributes.
    pub(crate) attributes: Vec<(String, OwnedValue)>,
}
