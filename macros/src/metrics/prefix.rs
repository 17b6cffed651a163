//! The prefix of a crate's metric names: `tc_`, unless its Cargo.toml sets another.
//!
//! ```toml
//! [package.metadata.tracecast]
//! metric-prefix = "acme_"
//! ```

use std::path::PathBuf;

use proc_macro2::TokenStream;
use quote::quote;

use crate::manifest::Manifest;

const DEFAULT: &str = "tc_";

/// The prefix of metric names.
#[derive(Clone)]
pub(crate) struct Prefix {
    text: String,
    /// The path of the manifest, if it sets the prefix.
    manifest: Option<PathBuf>,
}

impl Prefix {
    /// Returns the prefix for the crate being compiled.
    pub(crate) fn current() -> Self {
        let manifest = Manifest::current();
        let of = |manifest: &Manifest| Some((manifest.prefix.clone()?, manifest.path.clone()));
        match manifest.as_deref().and_then(of) {
            Some((text, manifest)) => Self { text, manifest: Some(manifest) },
            None => Self::default(),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether the crate's own manifest sets the prefix.
    pub(crate) fn is_own(&self) -> bool {
        self.manifest.is_some()
    }

    /// Returns the error of an invalid prefix; `None` if the prefix is valid.
    pub(crate) fn mistake(&self) -> Option<String> {
        let text = &self.text;
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let right = text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.chars().all(is_part)
            && text.ends_with('_')
            && !text.contains("__");
        (!right).then(|| {
            format!(
                "`metric-prefix = \"{text}\"` in Cargo.toml must be lower-case words that end in `_`, as in `acme_`"
            )
        })
    }

    /// Generates a dependency on the manifest, so that the crate is rebuilt when the prefix changes; `None` if the manifest sets
    /// no prefix.
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

#[cfg(test)]
impl Prefix {
    /// Creates a prefix as if a manifest set it.
    pub(crate) fn own(text: &str) -> Self {
        Self { text: text.to_owned(), manifest: Some(PathBuf::from("/crate/Cargo.toml")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
