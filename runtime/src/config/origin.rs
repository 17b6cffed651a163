//! The origin of each setting, for the start-up line.

use std::collections::BTreeMap;
use std::fmt;

/// The origin of a setting.
///
/// ```
/// use tracecast::config::{Config, Origin};
///
/// let config = Config::new().with_service_name("store");
/// assert_eq!(config.origin("service_name"), &Origin::Code);
/// assert_eq!(config.origin("service_name").to_string(), "code");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// No source: the setting has its default.
    #[default]
    Default,
    /// An environment variable, by its name.
    Variable(&'static str),
    /// A value of the file, by its path in it.
    File(String),
    /// The section about telemetry in the application's own configuration.
    Section,
    /// A `with_…` call of the program.
    Code,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Variable(name) => f.write_str(name),
            Origin::File(path) => f.write_str(path),
            Origin::Section => f.write_str("application's configuration"),
            Origin::Code => f.write_str("code"),
        }
    }
}

/// The origins of the settings that do not have their defaults.
#[derive(Clone, Debug, Default)]
pub(super) struct Origins(BTreeMap<&'static str, Origin>);

impl Origins {
    pub(super) fn set(&mut self, setting: &'static str, origin: Origin) {
        if origin == Origin::Default {
            self.0.remove(setting);
        } else {
            self.0.insert(setting, origin);
        }
    }

    pub(super) fn of(&self, setting: &str) -> &Origin {
        self.0.get(setting).unwrap_or(&Origin::Default)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Origin)> {
        self.0.iter().map(|(setting, origin)| (*setting, origin))
    }
}
