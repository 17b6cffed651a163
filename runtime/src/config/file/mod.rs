//! The declarative configuration of OpenTelemetry, schema 1.0, in YAML.
//!
//! What is wrong makes the whole file unusable, and all of it is told at once; what the schema lets others add is ignored
//! with a warning. What a file leaves out has the schema's default: without `tracer_provider`, no traces.

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

use self::reading::{At, Reading, Unknown};
use super::level::{Level, LogFilter};
use super::problem::{ConfigError, Problem, Severity, Wrong};
use super::values;
use super::{Config, Spool, yaml};
use crate::declare::value::OwnedValue;

/// The value of a variable.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Larger files are not configurations.
const MAX_BYTES: usize = 4 << 20;

/// Reads a file.
pub(super) fn read(path: &Path, lookup: Lookup<'_>) -> Result<Config, ConfigError> {
    let text = text_of(path).map_err(|error| {
        let wrong = Wrong::new(format!("cannot be read: {error}"), "a YAML file with the configuration");
        ConfigError { problems: vec![wrong.at_place(path.display().to_string(), Severity::Error)] }
    })?;
    let name = |problems: &mut Vec<Problem>| {
        for problem in problems {
            problem.file = Some(path.display().to_string());
        }
    };
    match parse(&text, lookup) {
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

/// The text of a file, or a little more of it than is accepted.
fn text_of(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

/// Reads the text of a file.
pub(super) fn parse(text: &str, lookup: Lookup<'_>) -> Result<Config, ConfigError> {
    if text.len() > MAX_BYTES {
        let wrong = Wrong::new("is too large", "at most 4 MiB");
        return Err(ConfigError { problems: vec![wrong.at_place("file", Severity::Error)] });
    }
    let root = yaml::parse(text, lookup).map_err(|problem| ConfigError { problems: vec![*problem] })?;
    let mut reading = Reading::default();
    // The schema has a file without propagators propagate nothing.
    reading.config.propagators.clear();
    document(&mut reading, &At { path: String::new(), node: &root });
    let Reading { mut config, problems } = reading;
    if problems.iter().any(|problem| problem.severity == Severity::Error) {
        return Err(ConfigError { problems });
    }
    config.problems = problems;
    config.declarative = true;
    Ok(config)
}

fn document(reading: &mut Reading, root: &At<'_>) {
    let mut map = reading.map(root);
    if let Some(at) = map.required(reading, "file_format", "\"1.0\"") {
        file_format(reading, &at);
    }
    // What is in development is understood as far as it is known, whether the file allows it or not.
    map.present("stability");
    let disabled = map.get("disabled");
    reading.set("enabled", disabled, truth, |config, disabled| config.enabled = disabled.then_some(false));
    reading.set("own_level", map.get("log_level"), Level::parse_severity, |config, level| config.own_level = level);
    if let Some(at) = map.get("resource") {
        resource::read(reading, &at);
    }
    if let Some(at) = map.get("propagator") {
        resource::propagator(reading, &at);
    }
    // General limits come first, so that those of a signal replace them.
    if let Some(at) = map.get("attribute_limits") {
        processors::attribute_limits(reading, &at);
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

/// `1.0`; a newer minor version has additions that we do not know, which is worth a warning.
fn file_format(reading: &mut Reading, at: &At<'_>) {
    let Some(text) = reading.text(Some(at.clone())) else { return };
    let (version, release) = text.split_once('-').map_or((text.as_str(), true), |(version, _)| (version, false));
    let minor = version.strip_prefix("1.").and_then(|minor| minor.parse::<u32>().ok());
    match minor {
        Some(0) if release => {}
        Some(_) => reading.report(at, Wrong::new("is not the version that Tracecast knows", "1.0"), Severity::Warning),
        None => reading.wrong(at, Wrong::new("is not a version that Tracecast can read", "1.0")),
    }
}

/// Only the opt-in to semantic conventions concerns us; the rest is for agents that instrument by themselves.
fn instrumentation(reading: &mut Reading, at: &At<'_>) {
    let mut map = reading.map(at);
    let Some(general) = map.get("general") else { return };
    let Some(list) = reading.map(&general).get("stability_opt_in_list") else { return };
    if let Some(text) = reading.text(Some(list.clone())) {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        let masked = |name: &str| text.clone().map(|_| name.to_owned());
        reading.config.semconv = names.map(masked).collect();
        reading.came_from("semconv", &list);
    }
}

/// Our own settings, which the schema has no place for.
fn distribution(reading: &mut Reading, at: &At<'_>) {
    let mut map = reading.map(at);
    // Those of other distributions are their business.
    let Some(at) = map.get("tracecast") else { return };
    let mut map = reading.map(&at);
    reading.set("debug", map.get("debug"), truth, |config, debug| config.debug = debug);
    reading.set("console", map.get("console_format"), values::console, |config, format| config.console = format);
    reading.set("logs.lines", map.get("log_format"), values::log_lines, |config, lines| {
        config.logs.lines = Some(lines);
    });
    reading.set("strict", map.get("strict"), truth, |config, strict| config.strict = strict);
    reading.set("memory_limit", map.get("memory_limit"), values::bytes, |config, bytes| config.memory_limit = bytes);
    if let Some(at) = map.get("spool") {
        spool(reading, &at);
    }
    if let Some(at) = map.get("role")
        && let Some(role) = reading.text(Some(at.clone()))
    {
        reading.config.resource.set("tc.role", role.map(OwnedValue::from));
        reading.came_from("role", &at);
    }
    if let Some(at) = map.get("filter")
        && let Some(text) = reading.text(Some(at.clone()))
    {
        reading.set("filter", Some(at), values::filter, |config, filter| config.filter = text.map(|_| filter));
    }
    if let Some(at) = map.get("log_filter")
        && let Some(text) = reading.text(Some(at.clone()))
    {
        let (filter, wrong) = LogFilter::read(&text);
        wrong.into_iter().for_each(|wrong| reading.wrong(&at, wrong));
        reading.config.log_filter = text.map(|_| filter.unwrap_or_default());
        reading.came_from("log_filter", &at);
    }
    map.finish(reading, Unknown::Refused);
}

/// Where what cannot be sent waits on disk.
fn spool(reading: &mut Reading, at: &At<'_>) {
    let mut map = reading.map(at);
    let directory = map.required(reading, "directory", "the path of a directory");
    if let Some(text) = reading.text(directory) {
        let mut spool = Spool::new("");
        spool.directory = text.map(PathBuf::from);
        reading.config.spool = Some(spool);
        reading.came_from("spool", at);
    }
    reading.set("spool", map.get("max_bytes"), values::bytes, |config, bytes| {
        config.spool.iter_mut().for_each(|spool| spool.max_bytes = bytes as u64);
    });
    reading.set("spool", map.get("max_age"), values::interval, |config, age| {
        config.spool.iter_mut().for_each(|spool| spool.max_age = age);
    });
    map.finish(reading, Unknown::Refused);
}

/// A truth value of YAML's core schema.
fn truth(text: &str) -> values::Parsed<bool> {
    match text {
        "true" | "True" | "TRUE" => Ok(true),
        "false" | "False" | "FALSE" => Ok(false),
        _ => Err(Wrong::new("is not a truth value", "true or false")),
    }
}
