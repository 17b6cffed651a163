//! Whose spans and metrics they are that third parties made.

use crate::declare::value::OwnedValue;

/// What instruments and spans of third parties belong to: a library, and what it says of itself.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ForeignScope {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// The schema of its names.
    pub schema_url: Option<String>,
    /// What else it says.
    pub attributes: Vec<(String, OwnedValue)>,
}
