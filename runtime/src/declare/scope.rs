//! The instrumentation scope of third-party spans and metrics.

use crate::declare::value::OwnedValue;

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
