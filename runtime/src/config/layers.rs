//! Configuration layers: the application's section and `with_…` calls, applied over the settings of the source.
//!
//! Layers are kept in the order in which they were added, so a reload replaces the settings of the source and applies
//! the layers again.

use std::fmt;
use std::sync::Arc;

use super::Config;
use super::origin::Origin;
use super::parts::setting_of;
use super::short::Telemetry;
use super::table::settings;
use super::{Signal, table::When};
use crate::base::secret::Masked;

/// One layer.
#[derive(Clone)]
pub(super) enum Layer {
    /// The application's section.
    Section(Arc<Telemetry>),
    /// One call of a method of [`Config`].
    Code(Change),
}

/// A change that code made.
#[derive(Clone)]
pub(super) struct Change {
    setting: &'static str,
    /// True if the change discards earlier changes of the same setting.
    replaces: bool,
    make: Arc<dyn Fn(&mut Config) + Send + Sync>,
}

impl fmt::Debug for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Layer::Section(telemetry) => telemetry.fmt(f),
            Layer::Code(change) => f.write_str(change.setting),
        }
    }
}

impl Config {
    /// Applies a section of the application's own configuration to settings that no variable and no earlier call has
    /// set. Has no effect if the settings come from a file in OpenTelemetry's format, because such a file is complete.
    ///
    /// ```
    /// use tracecast::config::{Config, Telemetry};
    ///
    /// let telemetry: Telemetry = serde_json::from_str(r#"{"service_name": "store", "role": "daemon"}"#)?;
    /// let config = Config::new().with_role("client").with_telemetry(telemetry);
    /// assert_eq!((config.service_name(), config.role()), (Some("store"), Some("client")));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn with_telemetry(mut self, telemetry: Telemetry) -> Self {
        if self.declarative {
            return self;
        }
        self.check(&telemetry);
        self.with(Layer::Section(Arc::new(telemetry)))
    }

    /// Applies the section to the settings that still have their defaults.
    fn fill(&mut self, telemetry: &Telemetry) {
        if self.declarative {
            return;
        }
        for setting in settings() {
            if let Some(section) = setting.section
                && *self.origins.of(setting.name) == Origin::Default
                && section(self, telemetry)
            {
                self.origins.set(setting.name, Origin::Section);
            }
        }
        // Each resource attribute is a setting of its own.
        for (name, value) in &telemetry.resource_attributes {
            if self.settings.resource.get(name).is_none() {
                self.settings.resource.set(name, Masked::from(value.clone()));
                let setting = setting_of(name).unwrap_or("resource");
                if *self.origins.of(setting) == Origin::Default {
                    self.origins.set(setting, Origin::Section);
                }
            }
        }
    }

    /// Replaces a setting; earlier calls for it are discarded.
    pub(super) fn set(self, setting: &'static str, make: impl Fn(&mut Config) + Send + Sync + 'static) -> Self {
        self.with(Layer::Code(Change { setting, replaces: true, make: Arc::new(make) }))
    }

    /// Changes a setting depending on its present value, so earlier calls are kept.
    pub(super) fn change(self, setting: &'static str, make: impl Fn(&mut Config) + Send + Sync + 'static) -> Self {
        self.with(Layer::Code(Change { setting, replaces: false, make: Arc::new(make) }))
    }

    /// Adds a layer. Calls that it replaces are removed, so the list stays short if a program changes a setting often.
    pub(super) fn with(mut self, layer: Layer) -> Self {
        if let Layer::Code(change) = &layer
            && change.replaces
        {
            self.layers.retain(|other| !matches!(other, Layer::Code(other) if other.setting == change.setting));
        }
        self.apply(&layer);
        self.layers.push(layer);
        self
    }

    fn apply(&mut self, layer: &Layer) {
        match layer {
            Layer::Section(telemetry) => self.fill(telemetry),
            Layer::Code(change) => {
                (change.make)(self);
                self.origins.set(change.setting, Origin::Code);
            }
        }
    }

    /// Returns `fresh`, the settings that the source has now, with the layers of this configuration applied.
    pub(crate) fn read_again(&self, fresh: Config) -> Config {
        let problems = fresh.problems.clone();
        let mut next = fresh;
        self.layers.iter().for_each(|layer| next.apply(layer));
        // The problems of the section were reported at the start.
        Config { layers: self.layers.clone(), custom_exporters: self.custom_exporters.clone(), problems, ..next }
    }

    /// Returns the names of the settings that differ between two configurations: first those that can change at run
    /// time, then those that need a restart.
    pub(crate) fn differences(&self, other: &Config) -> (Vec<&'static str>, Vec<&'static str>) {
        let exporters = |config: &Config| Signal::ALL.map(|signal| config.resolved(signal));
        let named = |when: When| {
            let of_kind = settings().filter(move |setting| setting.when == when);
            of_kind.filter(|setting| (setting.differs)(&self.settings, &other.settings)).map(|setting| setting.name)
        };
        let changed = (exporters(self) != exporters(other)).then_some("exporters");
        (changed.into_iter().chain(named(When::Now)).collect(), named(When::Later).collect())
    }
}
