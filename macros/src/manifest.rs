//! Reads the manifest of the crate being compiled: the name of the dependency on `tracecast`, and the prefix of metric names.
//!
//! The manifest is read line by line: a TOML parser would be one more crate that every user has to compile.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

const PACKAGE: &str = "tracecast";
const PREFIX: &str = "package.metadata.tracecast.metric-prefix";

pub(crate) struct Manifest {
    pub(crate) path: PathBuf,
    /// The prefix of metric names, if the manifest sets one.
    pub(crate) prefix: Option<String>,
    /// The name of `tracecast` in code; `None` if the crate does not depend on it.
    pub(crate) runtime: Option<String>,
}

impl Manifest {
    /// Returns the manifest of the crate being compiled; `None` if the crate is built without Cargo, or from a single file.
    pub(crate) fn current() -> Option<Arc<Self>> {
        // An editor expands the macros of many crates in one process, so the cache entry includes the path.
        static KNOWN: Mutex<Option<Arc<Manifest>>> = Mutex::new(None);
        let path = match std::env::var_os("CARGO_MANIFEST_PATH") {
            Some(path) => PathBuf::from(path),
            None => PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?).join("Cargo.toml"),
        };
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(manifest) = known.as_ref().filter(|manifest| manifest.path == path) {
            return Some(manifest.clone());
        }
        let text = std::fs::read_to_string(&path).ok().filter(|_| path.ends_with("Cargo.toml"))?;
        let workspace = || workspace_of(&path).and_then(|path| std::fs::read_to_string(path).ok());
        let manifest = Manifest { prefix: prefix(&text), runtime: runtime(&text, workspace), path };
        Some(known.insert(Arc::new(manifest)).clone())
    }
}

/// Returns the path of the workspace's manifest: the nearest `Cargo.toml`, in the package's folder or above, that has `workspace`
/// settings.
fn workspace_of(manifest: &Path) -> Option<PathBuf> {
    let candidates = manifest.ancestors().skip(1).map(|folder| folder.join("Cargo.toml"));
    candidates.into_iter().find(|path| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        settings(&text).any(|(key, _)| key.starts_with("workspace."))
    })
}

/// Returns the metric prefix that a manifest sets, if any.
fn prefix(manifest: &str) -> Option<String> {
    settings(manifest).find(|(key, _)| key == PREFIX).and_then(|(_, value)| text(value))
}

/// Returns the name of `tracecast` in the code of a package: `tracecast`, or the new name if this manifest or the workspace's
/// renames the dependency. `None` if the package does not depend on `tracecast`.
fn runtime(manifest: &str, workspace: impl FnOnce() -> Option<String>) -> Option<String> {
    let is_itself = |(key, value): (String, &str)| key == "package.name" && text(value).as_deref() == Some(PACKAGE);
    if settings(manifest).any(is_itself) {
        return Some(PACKAGE.to_owned());
    }
    let mut dependencies = Vec::new();
    for (key, value) in settings(manifest) {
        let Some((name, option)) = dependency(&key) else { continue };
        match option {
            "package" => dependencies.push((name.to_owned(), text(value))),
            "workspace" => dependencies.push((name.to_owned(), None)),
            // `name = ".."`, or the first line of a table: unless another line sets `package`, the package has the same name.
            _ if !dependencies.iter().any(|(known, _)| known == name) => dependencies.push((name.to_owned(), None)),
            _ => {}
        }
    }
    let renamed = |of: &[(String, Option<String>)]| {
        let found = of.iter().find(|(_, package)| package.as_deref() == Some(PACKAGE));
        found.map(|(name, _)| name.clone())
    };
    let has_other_package = |name: &str| dependencies.iter().any(|(known, package)| known == name && package.is_some());
    if dependencies.iter().any(|(name, _)| name == PACKAGE) && !has_other_package(PACKAGE) {
        return Some(PACKAGE.to_owned());
    }
    let name = renamed(&dependencies).or_else(|| {
        let workspace = workspace()?;
        let of_workspace: Vec<_> = settings(&workspace)
            .filter_map(|(key, value)| {
                let (name, option) = key.strip_prefix("workspace.dependencies.")?.split_once('.')?;
                (option == "package").then(|| (name.to_owned(), text(value)))
            })
            .filter(|(name, _)| dependencies.iter().any(|(known, _)| known == name))
            .collect();
        renamed(&of_workspace)
    })?;
    Some(name.replace('-', "_"))
}

/// Splits a key such as `target.'cfg(unix)'.dev-dependencies.name.package` into the name of the dependency and its option. The
/// option is empty for `name = ".."`. Returns `None` for keys of other tables.
fn dependency(key: &str) -> Option<(&str, &str)> {
    let tables = ["dependencies.", "dev-dependencies.", "build-dependencies."];
    let rest = tables.iter().find_map(|table| {
        let at = key.find(table)?;
        let starts = at == 0 || (key.starts_with("target.") && key[..at].ends_with('.'));
        starts.then(|| &key[at + table.len()..])
    })?;
    Some(rest.split_once('.').unwrap_or((rest, "")))
}

/// Returns the settings of a manifest, each with its full path and its value as written. Inline tables are split into their
/// settings.
fn settings(manifest: &str) -> impl Iterator<Item = (String, &str)> {
    let mut table = String::new();
    manifest.lines().map(str::trim).flat_map(move |line| {
        if let Some(header) = line.strip_prefix('[') {
            table = header.split(']').next().map(plain).unwrap_or_default();
            return Vec::new();
        }
        match line.split_once('=') {
            Some((key, value)) if !line.starts_with('#') => inline(joined(&table, &plain(key)), value.trim()),
            _ => Vec::new(),
        }
    })
}

/// Returns the settings inside an inline table, or the setting itself if its value is not one. `path` is the full key of the
/// setting.
fn inline(path: String, value: &str) -> Vec<(String, &str)> {
    let Some(inside) = value.strip_prefix('{') else { return vec![(path, value)] };
    let inside = inside.rsplit_once('}').map_or(inside, |(inside, _)| inside);
    let pairs = inside.split(',').filter_map(|pair| pair.split_once('='));
    pairs.flat_map(|(key, value)| inline(joined(&path, &plain(key)), value.trim())).collect()
}

/// Returns the content of a quoted string; `None` for other values.
fn text(value: &str) -> Option<String> {
    let quote = value.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
    value[1..].split_once(quote).map(|(text, _)| text.to_owned())
}

/// Returns a key without quotes and spaces.
fn plain(key: &str) -> String {
    key.chars().filter(|c| !c.is_whitespace() && *c != '"' && *c != '\'').collect()
}

fn joined(table: &str, key: &str) -> String {
    if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(manifest: &str, expected: Option<&str>) {
        assert_eq!(prefix(manifest).as_deref(), expected);
    }

    #[test]
    fn manifests_that_set_a_prefix() {
        check("[package]\nname = \"a\"\n[package.metadata.tracecast]\nmetric-prefix = \"acme_\"\n", Some("acme_"));
        check("[package.metadata.tracecast] # ours\n  metric-prefix='acme_' # why", Some("acme_"));
        check("[ package . metadata . \"tracecast\" ]\n\"metric-prefix\" = \"a_\"", Some("a_"));
        check("[package.metadata]\ntracecast.metric-prefix = \"a_\"", Some("a_"));
        check("[package.metadata]\ntracecast = { other = 1, metric-prefix = \"a_\" }", Some("a_"));
        check("[package]\nmetadata.tracecast = { metric-prefix = \"a_\" }", Some("a_"));
        check("[package.metadata.tracecast]\nmetric-prefix = \"\"", Some(""));
    }

    #[test]
    fn manifests_that_do_not() {
        check("", None);
        check("[package]\nname = \"a\"\nmetric-prefix = \"a_\"", None);
        check("[package.metadata.tracecast]\n# metric-prefix = \"a_\"", None);
        check("[package.metadata.tracecast]\n[dependencies]\nmetric-prefix = \"a_\"", None);
        check("[workspace.metadata.tracecast]\nmetric-prefix = \"a_\"", None);
        check("[package.metadata.tracecast]\nmetric-prefix = 7", None);
        check("[package.metadata.tracecast]\nmetric-prefix =", None);
    }

    #[track_caller]
    fn check_name(manifest: &str, workspace: &str, expected: Option<&str>) {
        assert_eq!(runtime(manifest, || Some(workspace.to_owned())).as_deref(), expected, "{manifest}");
    }

    #[test]
    fn names_of_the_crate() {
        check_name("[dependencies]\ntracecast = \"0.1\"", "", Some("tracecast"));
        check_name("[package]\nname = \"tracecast\"", "", Some("tracecast"));
        check_name("[dependencies.tracecast]\nversion = \"0.1\"\nfeatures = [\"otel\"]", "", Some("tracecast"));
        check_name("[dependencies]\ntracecast.workspace = true", "[workspace.dependencies]", Some("tracecast"));
        check_name("[dependencies]\ntel = { package = \"tracecast\", version = \"0.1\" }", "", Some("tel"));
        check_name("[dev-dependencies.my-tel]\nversion = \"0.1\"\npackage = 'tracecast'", "", Some("my_tel"));
        check_name("[dependencies]\ntel.package = \"tracecast\"\ntel.version = \"0.1\"", "", Some("tel"));
        check_name("[target.'cfg(unix)'.dependencies]\ntel = { package = \"tracecast\" }", "", Some("tel"));
        let workspace = "[workspace.dependencies]\ntel = { package = \"tracecast\" }\nserde = \"1\"";
        check_name("[dependencies]\nserde = \"1\"\ntel.workspace = true", workspace, Some("tel"));
        check_name("[dependencies]\ntel = { workspace = true, features = [\"otel\"] }", workspace, Some("tel"));
    }

    #[test]
    fn crates_that_do_not_depend_on_it() {
        check_name("[dependencies]\nacme = \"1\"", "[workspace.dependencies]\ntel = { package = \"tracecast\" }", None);
        check_name("[dependencies]\ntracecast = { package = \"other\" }", "", None);
        check_name("[package.metadata.dependencies]\ntracecast = \"1\"", "", None);
        check_name("# tracecast = \"1\"", "", None);
    }
}
