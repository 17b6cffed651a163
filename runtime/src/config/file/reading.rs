//! Walks a document: keeps the path, the configuration read so far, and the problems found.

use crate::base::secret::Masked;
use crate::config::origin::Origin;
use crate::config::problem::{Problem, Severity, Wrong};
use crate::config::values::{self, Parsed};
use crate::config::yaml::{Kind, Node};
use crate::config::{Config, Settings};

/// A value, and the path to it.
#[derive(Clone)]
pub(in crate::config) struct At<'a> {
    pub(super) path: String,
    pub(super) node: &'a Node,
}

/// Reads the single-value settings in the map at a path. It is a function pointer, because the table of settings names
/// functions of this module.
pub(in crate::config) type FromTable = fn(&mut Reading, &mut Map<'_>, &str);

/// The configuration read so far, and the problems found.
pub(in crate::config) struct Reading {
    pub(super) from_table: FromTable,
    pub(super) config: Config,
    pub(in crate::config) problems: Vec<Problem>,
}

/// How unknown keys of a map are reported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    /// As errors: a mistyped key would silently change what is exported.
    Refused,
    /// As warnings: the schema allows additional keys.
    Ignored,
}

/// A map that is being read. Keys that were not read by the end are unknown.
pub(in crate::config) struct Map<'a> {
    path: String,
    line: usize,
    entries: &'a [(String, Node)],
    known: Vec<&'static str>,
}

impl<'a> Map<'a> {
    /// Returns a value, unless it is missing or null.
    pub(in crate::config) fn get(&mut self, key: &'static str) -> Option<At<'a>> {
        self.present(key).filter(|at| !matches!(*at.node.kind, Kind::Null))
    }

    /// Returns a value that may be null, for keys that need no value.
    pub(super) fn present(&mut self, key: &'static str) -> Option<At<'a>> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        let (given, node) = self.entries.iter().find(|(given, _)| is_named(given, key))?;
        Some(At { path: joined(&self.path, given), node })
    }

    /// Returns a value, or reports that it is missing.
    pub(super) fn required(
        &mut self,
        reading: &mut Reading,
        key: &'static str,
        accepted: &'static str,
    ) -> Option<At<'a>> {
        let found = self.get(key);
        if found.is_none() {
            let wrong = Wrong::new("is missing", accepted);
            let problem = wrong.at_place(joined(&self.path, key), Severity::Error);
            reading.problems.push(Problem { line: Some(self.line), ..problem });
        }
        found
    }

    /// Reports a key of the schema that is not supported.
    pub(super) fn unsupported(&mut self, reading: &mut Reading, key: &'static str) {
        if let Some(at) = self.present(key) {
            let problem = Wrong::with_help("is not supported", "remove it").at_place(&at.path, Severity::Warning);
            reading.problems.push(Problem { line: Some(at.node.line), ..problem });
        }
    }

    /// Reports a boolean key that does not have `value`, the only supported one.
    pub(super) fn always(&mut self, reading: &mut Reading, key: &'static str, value: bool) {
        let at = self.get(key);
        if let Some(given) = reading.value(at.clone(), values::truth)
            && let Some(at) = at.filter(|_| given != value)
        {
            reading.report(&at, Wrong::new("is not supported", value), Severity::Warning);
        }
    }

    /// Reports the keys that were not read.
    pub(super) fn finish(self, reading: &mut Reading, unknown: Unknown) {
        let is_known = |given: &str| self.known.iter().any(|key| is_named(given, key));
        for (key, node) in self.entries.iter().filter(|(key, _)| !is_known(key)) {
            let severity = if unknown == Unknown::Refused { Severity::Error } else { Severity::Warning };
            let complaint = "is not a known key";
            let wrong = match &*self.known {
                [] => Wrong::with_help(complaint, "remove it"),
                known => Wrong::new(complaint, listed(known)),
            };
            let problem = wrong.at_place(joined(&self.path, key), severity);
            reading.problems.push(Problem { line: Some(node.line), ..problem });
        }
    }
}

impl Reading {
    /// Reads a map; null is an empty one.
    pub(super) fn map<'a>(&mut self, at: &At<'a>) -> Map<'a> {
        let entries: &[(String, Node)] = match &*at.node.kind {
            Kind::Map(entries) => entries,
            Kind::Null => &[],
            _ => {
                self.wrong(at, Wrong::new("is not a map", "keys with values below it"));
                &[]
            }
        };
        Map { path: at.path.clone(), line: at.node.line, entries, known: Vec::new() }
    }

    /// Reads a list. Returns an empty one if there is none, and reports a value that is not a list.
    pub(super) fn list<'a>(&mut self, at: Option<At<'a>>) -> Vec<At<'a>> {
        let Some(at) = at else { return Vec::new() };
        let Kind::List(items) = &*at.node.kind else {
            self.wrong(&at, Wrong::new("is not a list", "items that begin with `-`"));
            return Vec::new();
        };
        let item = |(index, node)| At { path: format!("{}[{index}]", at.path), node };
        items.iter().enumerate().map(item).collect()
    }

    /// Reads a map with a single key, which selects one of several kinds. Returns the key with its value.
    /// Returns `None` and reports a problem if there is not exactly one key or it is not in `keys`.
    pub(super) fn choice<'a>(
        &mut self,
        at: &At<'a>,
        keys: &[&'static str],
        unknown: Unknown,
    ) -> Option<(&'static str, At<'a>)> {
        let mut map = self.map(at);
        let count = map.entries.len();
        if count != 1 && !matches!(*at.node.kind, Kind::Scalar(_) | Kind::List(_)) {
            self.wrong(at, Wrong::new(format!("has {count} keys"), format!("exactly one of {}", listed(keys))));
            return None;
        }
        let found = keys.iter().filter_map(|key| map.present(key).map(|at| (*key, at))).next();
        map.finish(self, unknown);
        found
    }

    /// Reads a single value as text; `None` if it is missing. Reports a map or a list.
    pub(super) fn text(&mut self, at: Option<At<'_>>) -> Option<Masked<String>> {
        let at = at?;
        match &*at.node.kind {
            Kind::Scalar(text) => Some(text.clone()),
            _ => {
                self.wrong(&at, Wrong::new("is not a single value", "a string"));
                None
            }
        }
    }

    /// Reads a single value and parses it; `None` if it is missing or invalid. Reports an invalid one.
    pub(super) fn value<T>(&mut self, at: Option<At<'_>>, parse: impl FnOnce(&str) -> Parsed<T>) -> Option<T> {
        let at = at?;
        let text = self.text(Some(at.clone()))?;
        parse(&text).map_err(|wrong| self.wrong(&at, wrong)).ok()
    }

    /// Reads the single-value settings in a map, by the table.
    pub(super) fn settings(&mut self, map: &mut Map<'_>, path: &str) {
        (self.from_table)(self, map, path);
    }

    /// Reads a map that has single-value settings only.
    pub(super) fn map_of_settings(&mut self, at: &At<'_>, path: &str) {
        let mut map = self.map(at);
        self.settings(&mut map, path);
        map.finish(self, Unknown::Refused);
    }

    /// Parses a single value and sets it. Reports an invalid one and returns false.
    pub(in crate::config) fn put<T>(
        &mut self,
        at: &At<'_>,
        parse: impl FnOnce(&str) -> Parsed<T>,
        put: impl FnOnce(&mut Settings, T),
    ) -> bool {
        let value = self.value(Some(at.clone()), parse);
        value.map(|value| put(&mut self.config.settings, value)).is_some()
    }

    pub(in crate::config) fn came_from(&mut self, setting: &'static str, at: &At<'_>) {
        self.config.origins.set(setting, Origin::File(at.path.clone()));
    }

    /// Reports a problem that makes the file unusable.
    pub(super) fn wrong(&mut self, at: &At<'_>, wrong: Wrong) {
        self.report(at, wrong, Severity::Error);
    }

    /// Reports a problem. The report names no value that is used instead, because only invalid variables are replaced.
    pub(super) fn report(&mut self, at: &At<'_>, wrong: Wrong, severity: Severity) {
        let wrong = Wrong { used: None, ..wrong };
        let problem = match &*at.node.kind {
            Kind::Scalar(text) => wrong.at(&at.path, text, severity),
            _ => wrong.at_place(&at.path, severity),
        };
        self.problems.push(Problem { line: Some(at.node.line), ..problem });
    }
}

/// Returns whether `given` is `key`, or `key` without the suffix of keys in development, which later versions of the
/// schema drop.
fn is_named(given: &str, key: &str) -> bool {
    given == key || key.strip_suffix("/development") == Some(given)
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Lists keys as `a, b or c`.
pub(super) fn listed(keys: &[&str]) -> String {
    match keys {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}
