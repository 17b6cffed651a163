//! The instrumentation scope of third-party spans and metrics.

use crate::declare::value::OwnedValue;

/// The instrumentation scope of third-party spans and instruments: a library and its description.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ForeignScope {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// The URL of the schema that defines its attribute names.
    pub schema_url: Option<String>,
    /// Its attributes.
    pub attributes: Vec<(String, OwnedValue)>,
}
