//! The `OTEL_*` variables, and ours.
//!
//! An empty variable is one that is not set. A wrong one is ignored, and reported with what it accepts.

mod otlp;
mod signals;

use std::path::{Path, PathBuf};

use super::file;
use super::level::{Level, LogFilter};
use super::origin::Origin;
use super::problem::{ConfigError, Severity, Wrong};
use super::values::{self, Parsed};
use super::{Config, Propagator, Spool};
use crate::base::secret::Masked;
use crate::declare::value::OwnedValue;

/// The value of a variable.
pub(super) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Reads all variables, or the file that one of them names.
pub(super) fn read(lookup: Lookup<'_>) -> Config {
    let mut variables = Variables { lookup, config: Config::default() };
    match variables.text("OTEL_CONFIG_FILE") {
        Some(path) => variables.config = from_named_file(&path, lookup),
        None => variables.standard(),
    }
    variables.own();
    variables.config
}

fn from_named_file(path: &str, lookup: Lookup<'_>) -> Config {
    match file::read(Path::new(path), lookup) {
        Ok(config) => config,
        Err(ConfigError { problems }) => {
            let mut config = Config { enabled: Some(false), declarative: true, problems, ..Config::default() };
            config.origins.set("enabled", Origin::Variable("OTEL_CONFIG_FILE"));
            config
        }
    }
}

struct Variables<'a> {
    lookup: Lookup<'a>,
    config: Config,
}

impl Variables<'_> {
    /// A variable that is set to something.
    fn text(&self, name: &str) -> Option<String> {
        let text = (self.lookup)(name)?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// The value of a variable; a wrong one is reported.
    fn read<T>(&mut self, name: &'static str, parse: impl FnOnce(&str) -> Parsed<T>) -> Option<T> {
        let text = self.text(name)?;
        match parse(&text) {
            Ok(value) => Some(value),
            Err(wrong) => {
                self.complain(name, text, wrong);
                None
            }
        }
    }

    /// Reads a variable into a setting.
    fn set<T>(
        &mut self,
        setting: &'static str,
        name: &'static str,
        parse: impl FnOnce(&str) -> Parsed<T>,
        put: impl FnOnce(&mut Config, T),
    ) {
        if let Some(value) = self.read(name, parse) {
            put(&mut self.config, value);
            self.came_from(setting, name);
        }
    }

    fn came_from(&mut self, setting: &'static str, name: &'static str) {
        self.config.origins.set(setting, Origin::Variable(name));
    }

    fn complain(&mut self, name: &'static str, text: String, wrong: Wrong) {
        self.config.problems.push(wrong.at(name, &Masked::from(text), Severity::Warning));
    }

    fn standard(&mut self) {
        self.enabled();
        self.resource();
        self.propagators();
        self.set("own_level", "OTEL_LOG_LEVEL", Level::parse, |config, level| config.own_level = level);
        self.set("semconv", "OTEL_SEMCONV_STABILITY_OPT_IN", list, |config, names| config.semconv = names);
        self.otlp();
        self.traces();
        self.metrics();
        self.logs();
    }

    /// Variables that hold beside a file too, because they are not OpenTelemetry's.
    fn own(&mut self) {
        self.set("debug", "TC_OTEL_DEBUG", values::switch, |config, debug| config.debug = debug);
        self.set("console", "TC_CONSOLE_FORMAT", values::console, |config, format| config.console = format);
        self.set("logs.lines", "TC_LOG_FORMAT", values::log_lines, |config, lines| config.logs.lines = Some(lines));
        self.set("strict", "TC_STRICT", values::switch, |config, strict| config.strict = strict);
        self.set("filter", "TC_FILTER", values::filter, |config, filter| config.filter = filter.into());
        self.set("memory_limit", "TC_MEMORY_LIMIT", values::bytes, |config, bytes| config.memory_limit = bytes);
        if let Some(directory) = self.text("TC_SPOOL_DIR") {
            self.config.spool = Some(Spool { directory: PathBuf::from(directory).into(), ..self.spool() });
            self.came_from("spool", "TC_SPOOL_DIR");
        }
        self.spool_bound("TC_SPOOL_MAX_BYTES", values::bytes, |spool, bytes| spool.max_bytes = bytes as u64);
        self.spool_bound("TC_SPOOL_MAX_AGE_MS", values::interval, |spool, age| spool.max_age = age);
        if let Some(role) = self.text("TC_ROLE") {
            self.config.resource.set("tc.role", Masked::from(OwnedValue::from(role)));
            self.came_from("role", "TC_ROLE");
        }
        if !self.log_filter("LOG_LEVEL") {
            self.log_filter("RUST_LOG");
        }
    }

    /// The spool as it is, or as it is by default.
    fn spool(&self) -> Spool {
        self.config.spool.clone().unwrap_or_else(|| Spool::new(""))
    }

    /// A bound of the spool, which means nothing without one.
    fn spool_bound<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Parsed<T>,
        put: impl FnOnce(&mut Spool, T),
    ) {
        let Some(value) = self.read(name, parse) else { return };
        match &mut self.config.spool {
            Some(spool) => put(spool, value),
            None => {
                let wrong = Wrong::new("has no spool to go with", "TC_SPOOL_DIR beside it");
                let text = self.text(name).unwrap_or_default();
                self.complain(name, text, wrong);
            }
        }
    }

    /// An explicit off beats an explicit on.
    fn enabled(&mut self) {
        self.set("enabled", "OTEL_ENABLED", values::switch, |config, enabled| config.enabled = Some(enabled));
        if self.read("OTEL_SDK_DISABLED", values::standard_switch) == Some(true) && self.config.enabled != Some(false) {
            self.config.enabled = Some(false);
            self.came_from("enabled", "OTEL_SDK_DISABLED");
        }
    }

    /// The service's own variable beats `service.name` among the attributes.
    fn resource(&mut self) {
        self.set("resource", "OTEL_RESOURCE_ATTRIBUTES", values::resource_attributes, |config, attributes| {
            for (name, value) in attributes {
                config.resource.set(&name, Masked::from(OwnedValue::from(value)));
            }
        });
        if self.config.service_name().is_some() {
            self.came_from("service_name", "OTEL_RESOURCE_ATTRIBUTES");
        }
        if let Some(name) = self.text("OTEL_SERVICE_NAME") {
            self.config.resource.set("service.name", Masked::from(OwnedValue::from(name)));
            self.came_from("service_name", "OTEL_SERVICE_NAME");
        }
    }

    fn propagators(&mut self) {
        let name = "OTEL_PROPAGATORS";
        let Some(text) = self.text(name) else { return };
        let (propagators, wrong) = values::propagators(&text);
        // All of them wrong is not the same as none.
        if !propagators.is_empty() || wrong.is_empty() {
            self.config.propagators = propagators;
            self.came_from("propagators", name);
        }
        let used = self.config.propagators.iter().copied().map(propagator_name).collect::<Vec<_>>().join(",");
        for wrong in wrong {
            self.complain(name, text.clone(), wrong.using(used.clone()));
        }
    }

    /// Reads directives; says whether there were any that could be understood.
    fn log_filter(&mut self, name: &'static str) -> bool {
        let Some(text) = self.text(name) else { return false };
        let (filter, wrong) = LogFilter::read(&text);
        for wrong in wrong {
            self.complain(name, text.clone(), wrong);
        }
        let Some(filter) = filter else { return false };
        self.config.log_filter = filter.into();
        self.came_from("log_filter", name);
        true
    }
}

/// Names separated by commas.
fn list(text: &str) -> Parsed<Vec<Masked<String>>> {
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    Ok(names.map(|name| Masked::from(name.to_owned())).collect())
}

fn propagator_name(propagator: Propagator) -> &'static str {
    match propagator {
        Propagator::TraceContext => "tracecontext",
        Propagator::Baggage => "baggage",
        Propagator::B3 => "b3",
        Propagator::B3Multi => "b3multi",
    }
}
