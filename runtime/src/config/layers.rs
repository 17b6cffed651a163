//! What the application's section and code say on top of what was read.
//!
//! A configuration is the settings that were read from its source, and layers on top of them in the order in which they
//! were added. They are kept, so that reading the source again replaces the lowest layer alone.

use std::fmt;
use std::sync::Arc;

use super::Config;
use super::origin::Origin;
use super::parts::setting_of;
use super::short::Telemetry;
use super::table::settings;
use super::{Signal, table::When};
use crate::base::secret::Masked;

/// What was said at once.
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
    /// Whether it replaces what earlier calls said about the setting.
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
    /// Takes what the application's own configuration says, where no variable and no earlier call said otherwise. Beside a
    /// file in OpenTelemetry's format it has no effect, because such a file says everything.
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

    /// Sets what nobody has said before.
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
        // Attributes of the resource are settings one by one.
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

    /// Changes a setting, whatever was said about it before.
    pub(super) fn set(self, setting: &'static str, make: impl Fn(&mut Config) + Send + Sync + 'static) -> Self {
        self.with(Layer::Code(Change { setting, replaces: true, make: Arc::new(make) }))
    }

    /// Changes a setting in a way that depends on what was said before.
    pub(super) fn change(self, setting: &'static str, make: impl Fn(&mut Config) + Send + Sync + 'static) -> Self {
        self.with(Layer::Code(Change { setting, replaces: false, make: Arc::new(make) }))
    }

    /// Puts a layer on top. Calls that it replaces are forgotten: a program may change a setting any number of times.
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

    /// This configuration with what its source says now.
    pub(crate) fn read_again(&self, fresh: Config) -> Config {
        let problems = fresh.problems.clone();
        let mut next = fresh;
        self.layers.iter().for_each(|layer| next.apply(layer));
        // The problems of the section were reported at the start.
        Config { layers: self.layers.clone(), plugged: self.plugged.clone(), problems, ..next }
    }

    /// Settings that are different in another configuration: those that can be changed at run time, and those that cannot.
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
