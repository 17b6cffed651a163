//! Reads the sources of a configuration, driven by the table of settings.

use std::path::Path;

use super::Config;
use super::env::{Lookup, Variables};
use super::file::{self, Map, Reading};
use super::origin::Origin;
use super::problem::ConfigError;
use super::table::{Setting, Variable, settings};

/// Reads a file.
pub(super) fn file(path: &Path, lookup: Lookup<'_>) -> Result<Config, ConfigError> {
    file::read(path, lookup, from_table).map(|config| with_proxies(config, lookup))
}

/// Reads the text of a file.
pub(super) fn yaml(text: &str, lookup: Lookup<'_>) -> Result<Config, ConfigError> {
    file::parse(text, lookup, from_table).map(|config| with_proxies(config, lookup))
}

/// Adds the proxies of the environment: they describe the machine's network, and a file describes telemetry.
fn with_proxies(config: Config, lookup: Lookup<'_>) -> Config {
    let mut variables = Variables { lookup, config };
    read_variables(&mut variables, |setting, _| setting.is_proxy());
    variables.config
}

/// Reads the variables. If `OTEL_CONFIG_FILE` names a file, reads the file instead of the other `OTEL_*` variables.
pub(super) fn variables(lookup: Lookup<'_>) -> Config {
    let mut variables = Variables { lookup, config: Config::default() };
    if let Some(path) = variables.text("OTEL_CONFIG_FILE") {
        variables.config = from_named_file(&path, lookup);
    }
    let is_file = variables.config.declarative;
    read_variables(&mut variables, |setting, variable| {
        !is_file || !variable.name.starts_with("OTEL_") && !setting.is_proxy()
    });
    variables.config
}

/// Reads the variables that `which` selects.
fn read_variables(variables: &mut Variables<'_>, which: impl Fn(&Setting, &Variable) -> bool) {
    let mut done = Vec::new();
    for setting in settings() {
        for variable in setting.variables.iter().filter(|variable| which(setting, variable)) {
            let Variable { name, read } = variable;
            let Some(text) = variables.text(name) else { continue };
            let problems = variables.config.problems.len();
            if read(variables, name, &text) {
                variables.config.origins.set(setting.name, Origin::Variable(name));
            }
            // A variable that two settings read is reported once.
            if done.contains(name) {
                variables.config.problems.truncate(problems);
            }
            done.push(*name);
        }
    }
}

fn from_named_file(path: &str, lookup: Lookup<'_>) -> Config {
    match file(Path::new(path), lookup) {
        Ok(config) => config,
        Err(ConfigError { problems }) => {
            let mut config = Config { declarative: true, problems, ..Config::default() };
            config.settings.enabled = Some(false);
            config.origins.set("enabled", Origin::Variable("OTEL_CONFIG_FILE"));
            config
        }
    }
}

/// Reads the single values of a map in the file.
fn from_table(reading: &mut Reading, map: &mut Map<'_>, path: &str) {
    let mut read = Vec::new();
    for setting in settings() {
        for value in setting.file {
            let (parent, key) = value.place();
            let Some(at) = (parent == path).then(|| map.get(key)).flatten() else { continue };
            let problems = reading.problems.len();
            if (value.read)(reading, &at) {
                reading.came_from(setting.name, &at);
            }
            // A value that two settings read is reported once.
            if read.contains(&key) {
                reading.problems.truncate(problems);
            }
            read.push(key);
        }
    }
}
