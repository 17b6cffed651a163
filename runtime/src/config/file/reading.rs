//! Walking a document: where one is, what was found, what was wrong with it.

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

/// Reads the settings that are single values of the map at a path. It is handed in, because the table names functions of
/// this module.
pub(in crate::config) type FromTable = fn(&mut Reading, &mut Map<'_>, &str);

/// The configuration so far, and everything that was wrong.
pub(in crate::config) struct Reading {
    pub(super) from_table: FromTable,
    pub(super) config: Config,
    pub(in crate::config) problems: Vec<Problem>,
}

/// Whether a map may hold what we do not know.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    /// It may not: a mistyped key would silently change what is exported.
    Refused,
    /// It may, because the schema lets others add to it.
    Ignored,
}

/// A map that is being read. What was not asked for by the end is unknown.
pub(in crate::config) struct Map<'a> {
    path: String,
    line: usize,
    entries: &'a [(String, Node)],
    known: Vec<&'static str>,
}

impl<'a> Map<'a> {
    /// A value, unless it is missing or null.
    pub(in crate::config) fn get(&mut self, key: &'static str) -> Option<At<'a>> {
        self.present(key).filter(|at| !matches!(*at.node.kind, Kind::Null))
    }

    /// A value that may be null: its key alone says something.
    pub(super) fn present(&mut self, key: &'static str) -> Option<At<'a>> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        let (given, node) = self.entries.iter().find(|(given, _)| is_named(given, key))?;
        Some(At { path: joined(&self.path, given), node })
    }

    /// A value that has to be there.
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

    /// Says that a key is one of the schema's which has no effect here.
    pub(super) fn unsupported(&mut self, reading: &mut Reading, key: &'static str) {
        if let Some(at) = self.present(key) {
            let problem = Wrong::new("has no effect in Tracecast", "it left out").at_place(&at.path, Severity::Warning);
            reading.problems.push(Problem { line: Some(at.node.line), ..problem });
        }
    }

    /// Says that a truth value of the schema can only be what Tracecast does anyway.
    pub(super) fn always(&mut self, reading: &mut Reading, key: &'static str, value: bool) {
        let at = self.get(key);
        if let Some(given) = reading.value(at.clone(), values::truth)
            && let Some(at) = at.filter(|_| given != value)
        {
            reading.report(&at, Wrong::new("has no effect in Tracecast", value.to_string()), Severity::Warning);
        }
    }

    /// The end of the map: reports the keys that nobody asked for.
    pub(super) fn finish(self, reading: &mut Reading, unknown: Unknown) {
        let is_known = |given: &str| self.known.iter().any(|key| is_named(given, key));
        for (key, node) in self.entries.iter().filter(|(key, _)| !is_known(key)) {
            let severity = if unknown == Unknown::Refused { Severity::Error } else { Severity::Warning };
            let accepted = if self.known.is_empty() { "nothing".to_owned() } else { listed(&self.known) };
            let problem = Wrong::new("is not a known key", accepted).at_place(joined(&self.path, key), severity);
            reading.problems.push(Problem { line: Some(node.line), ..problem });
        }
    }
}

impl Reading {
    /// A map; null is an empty one.
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

    /// The items of a list.
    pub(super) fn list<'a>(&mut self, at: Option<At<'a>>) -> Vec<At<'a>> {
        let Some(at) = at else { return Vec::new() };
        let Kind::List(items) = &*at.node.kind else {
            self.wrong(&at, Wrong::new("is not a list", "items that begin with `-`"));
            return Vec::new();
        };
        let item = |(index, node)| At { path: format!("{}[{index}]", at.path), node };
        items.iter().enumerate().map(item).collect()
    }

    /// A map with one key that says what the rest is.
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

    /// A single value as text.
    pub(super) fn text(&mut self, at: Option<At<'_>>) -> Option<Masked<String>> {
        let at = at?;
        match &*at.node.kind {
            Kind::Scalar(text) => Some(text.clone()),
            _ => {
                self.wrong(&at, Wrong::new("is not a single value", "a text"));
                None
            }
        }
    }

    /// A single value, as something else than text.
    pub(super) fn value<T>(&mut self, at: Option<At<'_>>, parse: impl FnOnce(&str) -> Parsed<T>) -> Option<T> {
        let at = at?;
        let text = self.text(Some(at.clone()))?;
        parse(&text).map_err(|wrong| self.wrong(&at, wrong)).ok()
    }

    /// The settings that are single values of a map, as the table has them.
    pub(super) fn settings(&mut self, map: &mut Map<'_>, path: &str) {
        (self.from_table)(self, map, path);
    }

    /// A map of such settings and nothing else.
    pub(super) fn map_of_settings(&mut self, at: &At<'_>, path: &str) {
        let mut map = self.map(at);
        self.settings(&mut map, path);
        map.finish(self, Unknown::Refused);
    }

    /// Puts a single value into the settings, unless it is wrong.
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

    /// Reports what makes the file unusable.
    pub(super) fn wrong(&mut self, at: &At<'_>, wrong: Wrong) {
        self.report(at, wrong, Severity::Error);
    }

    /// Reports what is ignored. What would have been used is of no interest then.
    pub(super) fn report(&mut self, at: &At<'_>, wrong: Wrong, severity: Severity) {
        let wrong = Wrong { used: None, ..wrong };
        let problem = match &*at.node.kind {
            Kind::Scalar(text) => wrong.at(&at.path, text, severity),
            _ => wrong.at_place(&at.path, severity),
        };
        self.problems.push(Problem { line: Some(at.node.line), ..problem });
    }
}

/// Later versions of the schema have the keys that are in development without this mark, and say so once for the file.
fn is_named(given: &str, key: &str) -> bool {
    given == key || key.strip_suffix("/development") == Some(given)
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// `a, b or c`
pub(super) fn listed(keys: &[&str]) -> String {
    match keys {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}
