//! The prefix of a crate's metric names: `tc_`, unless its Cargo.toml says otherwise.
//!
//! ```toml
//! [package.metadata.tracecast]
//! metric-prefix = "acme_"
//! ```

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use proc_macro2::TokenStream;
use quote::quote;

const DEFAULT: &str = "tc_";
const KEY: &str = "package.metadata.tracecast.metric-prefix";

/// What metric names start with.
#[derive(Clone)]
pub(crate) struct Prefix {
    text: String,
    /// The manifest, if it sets the prefix.
    manifest: Option<PathBuf>,
}

impl Prefix {
    /// That of the crate which is being compiled.
    pub(crate) fn current() -> Self {
        // An editor expands the macros of many crates in one process, so what is kept is kept with its folder.
        static KNOWN: Mutex<Option<(PathBuf, Prefix)>> = Mutex::new(None);
        let Some(folder) = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from) else {
            return Self::default();
        };
        let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match &*known {
            Some((of, prefix)) if *of == folder => prefix.clone(),
            _ => known.insert((folder.clone(), Self::of_manifest(&folder.join("Cargo.toml")))).1.clone(),
        }
    }

    fn of_manifest(manifest: &Path) -> Self {
        let text = std::fs::read_to_string(manifest).unwrap_or_default();
        match find(&text) {
            Some(text) => Self { text, manifest: Some(manifest.to_owned()) },
            None => Self::default(),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the crate's own manifest sets it.
    pub(crate) fn is_own(&self) -> bool {
        self.manifest.is_some()
    }

    /// What is wrong with it.
    pub(crate) fn mistake(&self) -> Option<String> {
        let text = &self.text;
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let right = text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.chars().all(is_part)
            && text.ends_with('_')
            && !text.contains("__");
        (!right).then(|| {
            format!("`metric-prefix = \"{text}\"` in Cargo.toml is not lower-case words that end in `_`; write it as `acme_`")
        })
    }

    /// Has the crate built anew when its manifest changes, on which the names depend then.
    pub(crate) fn dependency(&self) -> Option<TokenStream> {
        let manifest = self.manifest.as_ref()?.to_str()?;
        Some(quote!(
            const _: &::core::primitive::str = ::core::include_str!(#manifest);
        ))
    }
}

impl Default for Prefix {
    fn default() -> Self {
        Self { text: DEFAULT.to_owned(), manifest: None }
    }
}

/// The prefix that a manifest sets. Reads line by line: a parser of TOML would be one more crate for every user to build.
fn find(manifest: &str) -> Option<String> {
    let mut table = String::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            table = header.split(']').next().map(plain).unwrap_or_default();
        } else if let Some((key, value)) = line.split_once('=')
            && let Some(found) = value_of(&joined(&table, &plain(key)), value)
        {
            return Some(found);
        }
    }
    None
}

/// The prefix, if it is the value of `path` or stands in the inline table there.
fn value_of(path: &str, value: &str) -> Option<String> {
    let value = value.trim();
    if path == KEY {
        let quote = value.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
        return value[1..].split_once(quote).map(|(text, _)| text.to_owned());
    }
    let inside = value.strip_prefix('{').filter(|_| KEY.starts_with(path))?;
    let mut pairs = inside.trim_end_matches('}').split(',').filter_map(|pair| pair.split_once('='));
    pairs.find_map(|(key, value)| value_of(&joined(path, &plain(key)), value))
}

/// A key without its quotes and spaces.
fn plain(key: &str) -> String {
    key.chars().filter(|c| !c.is_whitespace() && *c != '"' && *c != '\'').collect()
}

fn joined(table: &str, key: &str) -> String {
    if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") }
}

#[cfg(test)]
impl Prefix {
    /// One that a manifest sets.
    pub(crate) fn own(text: &str) -> Self {
        Self { text: text.to_owned(), manifest: Some(PathBuf::from("/crate/Cargo.toml")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(manifest: &str, expected: Option<&str>) {
        assert_eq!(find(manifest).as_deref(), expected);
    }

    #[test]
    fn manifests_that_set_it() {
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

    #[test]
    fn prefixes_that_are_wrong() {
        assert!(Prefix::default().mistake().is_none() && Prefix::own("acme2_db_").mistake().is_none());
        for wrong in ["", "acme", "Acme_", "_acme_", "2acme_", "acme-", "acme__"] {
            assert!(Prefix::own(wrong).mistake().is_some_and(|mistake| mistake.contains(wrong)));
        }
    }

    #[test]
    fn only_a_prefix_of_its_own_is_depended_on() {
        assert!(Prefix::default().dependency().is_none());
        let dependency = Prefix::own("a_").dependency().unwrap().to_string();
        assert!(dependency.contains("include_str") && dependency.contains("/crate/Cargo.toml"));
    }
}
