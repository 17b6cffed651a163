//! The options of `#[tc_metric(...)]`: grammar and every check that needs no function.

mod error_set;
mod reader;
mod role;

use proc_macro2::{Ident, Span as Site, TokenStream};
use quote::ToTokens;
use syn::{Generics, Path, Type};

pub(crate) use reader::read;
pub(crate) use role::{Instrument, Role};

use super::options::{Field, Shared};
use crate::metrics::Settings;

/// The metrics of a function, as far as they were right.
#[derive(Default)]
pub(crate) struct Metrics {
    pub(crate) instruments: Vec<Instrument>,
    /// Labels whose values are known at the call.
    pub(crate) labels: Vec<Field>,
    /// Labels whose values are functions of the result.
    pub(crate) results: Vec<Field>,
    pub(crate) settings: Settings,
    error_type: ErrorType,
    pub(crate) shared: Shared,
    /// Every option that was written.
    seen: Vec<Ident>,
    /// The attribute.
    place: Option<Site>,
}

/// Which types of errors are told apart.
#[derive(Default)]
enum ErrorType {
    /// Those that the signature names.
    #[default]
    OfSignature,
    Given(Path),
    None,
}

impl Metrics {
    /// The place where the option `name` was written.
    pub(crate) fn written(&self, name: &str) -> Option<&Ident> {
        self.seen.iter().find(|seen| *seen == name)
    }

    /// Where the attribute stands.
    pub(crate) fn place(&self) -> Site {
        self.place.unwrap_or_else(Site::call_site)
    }

    /// Whether any metric was asked for, right or wrong.
    pub(crate) fn has_any(&self) -> bool {
        self.seen.iter().any(|option| Role::named(&option.to_string()).is_some())
    }

    /// Every expression of the user's that is evaluated at the call.
    pub(crate) fn expressions(&self) -> TokenStream {
        self.labels.iter().map(|label| label.value.to_token_stream()).collect()
    }

    /// A `Result` whose error has the types that calls may fail with; `output` is what is looked at, if anything is.
    pub(crate) fn error_set(&self, output: Option<&Type>, generics: &Generics) -> Option<TokenStream> {
        if !self.instruments.iter().any(|instrument| instrument.role.tells_errors()) {
            return None;
        }
        match &self.error_type {
            ErrorType::OfSignature => error_set::of_type(output?, generics),
            ErrorType::Given(path) => Some(error_set::of_error(path)),
            ErrorType::None => None,
        }
    }
}
