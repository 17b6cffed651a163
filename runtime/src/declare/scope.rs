//! Instrumentation scopes: the crate that declares our spans and metrics, and the library that makes third-party telemetry.

use crate::declare::value::OwnedValue;

/// The instrumentation scope of our own spans and metrics: the crate that declares them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CrateScope {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
}

impl CrateScope {
    /// The scope of telemetry without a declaration, such as spans with names made at run time: this crate.
    pub(crate) const OWN: CrateScope = CrateScope { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") };
}

/// The instrumentation scope of third-party spans and instruments: a library and its description.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExternalScope {
    /// The name of the library.
    pub(crate) name: String,
    /// The version of the library.
    pub(crate) version: Option<String>,
    /// The URL of the schema that defines the attribute names.
    pub(crate) schema_url: Option<String>,
    /// The attributes of the scope.
    pub(crate) attributes: Vec<(String, OwnedValue)>,
}
