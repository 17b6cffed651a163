//! OpenTelemetry's declarative configuration, schemas 1.0 and 1.1, in YAML.
//!
//! An invalid value makes the whole file unusable, and the error lists every problem. Unknown entries that the schema
//! allows are ignored with a warning. A key that is omitted has the schema's default: without `tracer_provider`, no
//! traces.

mod exporter;
mod metrics;
mod processors;
mod reading;
mod resource;
mod sampler;
mod views;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use self::reading::Unknown;
pub(super) use self::reading::{At, FromTable, Map, Reading};
use super::header::HeaderSource;
use super::level::LogFilter;
use super::problem::{ConfigError, Problem, Severity, Wrong};
use super::values;
use super::{Config, Spool, yaml};
use crate::declare::value::OwnedValue;

/// Looks up a variable.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The maximum size of a file, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// Reads a file.
pub(super) fn read(path: &Path, lookup: Lookup<'_>, from_table: FromTable) -> Result<Config, ConfigError> {
    let text = text_of(path).map_err(|error| {
        let wrong = Wrong::new(format!("cannot be read: {error}"), "a YAML file with the configuration");
        ConfigError { problems: vec![wrong.at_place(path.display().to_string(), Severity::Error)] }
    })?;
    let name = |problems: &mut Vec<Problem>| {
        for problem in problems {
            problem.file = Some(path.display().to_string());
        }
    };
    match parse(&text, lookup, from_table) {
        Ok(mut config) => {
            name(&mut config.problems);
            Ok(config)
        }
        Err(mut error) => {
            name(&mut error.problems);
            Err(error)
        }
    }
}

/// Reads a file up to one byte beyond `MAX_BYTES`, so that `parse` can reject a larger file.
fn text_of(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

/// Reads the text of a file.
pub(super) fn parse(text: &str, lookup: Lookup<'_>, from_table: FromTable) -> Result<Config, ConfigError> {
    if text.len() > MAX_BYTES {
        let wrong = Wrong::new("is too large", "at most 4 MiB");
        return Err(ConfigError { problems: vec![wrong.at_place("file", Severity::Error)] });
    }
    let root = yaml::parse(text, lookup).map_err(|problem| ConfigError { problems: vec![*problem] })?;
    let mut reading = Reading { from_table, config: Config::default(), problems: Vec::new() };
    // By the schema, a file without `propagator` propagates nothing.
    reading.config.settings.propagators.clear();
    document(&mut reading, &At { path: String::new(), node: &root });
    let Reading { mut config, problems, .. } = reading;
    if problems.iter().any(|problem| problem.severity == Severity::Error) {
        return Err(ConfigError { problems });
    }
    config.problems = problems;
    config.declarative = true;
    Ok(config)
}

fn document(reading: &mut Reading, root: &At<'_>) {
    let mut map = reading.map(root);
    if let Some(at) = map.required(reading, "file_format", "\"1.0\" or \"1.1\"") {
        file_format(reading, &at);
    }
    // Properties in development are read whether the file opts in to them or not.
    map.present("stability");
    reading.settings(&mut map, "");
    if let Some(at) = map.get("resource") {
        resource::read(reading, &at);
    }
    if let Some(at) = map.get("propagator") {
        resource::propagator(reading, &at);
    }
    // General limits are read first, so that the limits of a signal override them.
    if let Some(at) = map.get("attribute_limits") {
        reading.map_of_settings(&at, "attribute_limits");
    }
    if let Some(at) = map.get("tracer_provider") {
        processors::tracer_provider(reading, &at);
    }
    if let Some(at) = map.get("meter_provider") {
        metrics::meter_provider(reading, &at);
    }
    if let Some(at) = map.get("logger_provider") {
        processors::logger_provider(reading, &at);
    }
    if let Some(at) = map.get("instrumentation/development") {
        instrumentation(reading, &at);
    }
    if let Some(at) = map.get("distribution") {
        distribution(reading, &at);
    }
    map.finish(reading, Unknown::Ignored);
}

/// Checks the version: `1.0` or `1.1`. Other versions that begin with `1.`, including pre-releases, only cause a
/// warning: they may have keys that are not known here.
fn file_format(reading: &mut Reading, at: &At<'_>) {
    let Some(text) = reading.text(Some(at.clone())) else { return };
    let (version, release) = text.split_once('-').map_or((text.as_str(), true), |(version, _)| (version, false));
    let minor = version.strip_prefix("1.").and_then(|minor| minor.parse::<u32>().ok());
    match minor {
        Some(0 | 1) if release => {}
        Some(_) => {
            reading.report(at, Wrong::new("is only partly supported", "1.0 or 1.1"), Severity::Warning);
        }
        None => reading.wrong(at, Wrong::new("is not a supported version", "1.0 or 1.1")),
    }
}

/// Reads the opt-in to semantic conventions. The other keys are for agents that instrument by themselves.
fn instrumentation(reading: &mut Reading, at: &At<'_>) {
    let mut map = reading.map(at);
    let Some(general) = map.get("general") else { return };
    let Some(list) = reading.map(&general).get("stability_opt_in_list") else { return };
    if let Some(text) = reading.text(Some(list.clone())) {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        let masked = |name: &str| text.clone().map(|_| name.to_owned());
        reading.config.settings.semconv = names.map(masked).collect();
        reading.came_from("semconv", &list);
    }
}

/// Reads our own settings, for which the schema has no keys.
fn distribution(reading: &mut Reading, at: &At<'_>) {
    let mut map = reading.map(at);
    // The sections of other distributions are ignored.
    let Some(at) = map.get("tracecast") else { return };
    let mut map = reading.map(&at);
    reading.settings(&mut map, "distribution.tracecast");
    map.finish(reading, Unknown::Refused);
}

pub(super) fn role(reading: &mut Reading, at: &At<'_>) -> bool {
    let role = reading.text(Some(at.clone()));
    role.map(|role| reading.config.settings.resource.set("tc.role", role.map(OwnedValue::from))).is_some()
}

/// Reads the filter. Its text is hidden if a variable is part of it.
pub(super) fn filter(reading: &mut Reading, at: &At<'_>) -> bool {
    let Some(text) = reading.text(Some(at.clone())) else { return false };
    reading.put(at, values::filter, |settings, filter| settings.filter = text.map(|_| filter))
}

pub(super) fn busy_times(reading: &mut Reading, at: &At<'_>) -> bool {
    let Some(text) = reading.text(Some(at.clone())) else { return false };
    reading.put(at, values::filter, |settings, filter| settings.busy_times = text.map(|_| filter))
}

pub(super) fn log_filter(reading: &mut Reading, at: &At<'_>) -> bool {
    let Some(text) = reading.text(Some(at.clone())) else { return false };
    let (filter, wrong) = LogFilter::read(&text);
    wrong.into_iter().for_each(|wrong| reading.wrong(at, wrong));
    reading.config.settings.log_filter = text.map(|_| filter.unwrap_or_default());
    true
}

/// Reads headers whose values are in files, for exporters without headers of their own.
pub(super) fn header_files(reading: &mut Reading, at: &At<'_>) -> bool {
    let Some(text) = reading.text(Some(at.clone())) else { return false };
    reading.put(at, values::header_files, |settings, files| {
        let source = |path| HeaderSource::File(text.clone().map(|_| path));
        settings.otlp.headers = Some(files.into_iter().map(|(name, path)| (name, source(path))).collect());
    })
}

/// Reads the spool: its directory and its limits.
pub(super) fn spool(reading: &mut Reading, at: &At<'_>) -> bool {
    let mut map = reading.map(at);
    let directory = map.required(reading, "directory", "the path of a directory");
    let directory = reading.text(directory);
    let (bytes, age) = (map.get("max_bytes"), map.get("max_age"));
    let (bytes, age) = (reading.value(bytes, values::bytes), reading.value(age, values::interval));
    map.finish(reading, Unknown::Refused);
    let Some(directory) = directory else { return false };
    let default = Spool::new("");
    reading.config.settings.spool = Some(Spool {
        directory: directory.map(PathBuf::from),
        max_bytes: bytes.map_or(default.max_bytes, |bytes| bytes as u64),
        max_age: age.unwrap_or(default.max_age),
    });
    true
}
