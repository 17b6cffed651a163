//! The options of `#[tc_metric(...)]`: grammar, and all checks that do not depend on the function.

mod error_set;
mod reader;
mod role;

use proc_macro2::{Ident, Span as Site, TokenStream};
use quote::ToTokens;
use syn::{Expr, Path, Signature, Type};

pub(crate) use reader::{IMPL_PARAMETERS, read};
pub(crate) use role::{Instrument, Role};

use super::options::{Field, Shared};
use crate::metrics::Settings;

/// The metrics of a function, as far as the options of `tc_metric` could be parsed.
pub(crate) struct Metrics {
    pub(crate) instruments: Vec<Instrument>,
    /// Labels whose values are known at the call.
    pub(crate) labels: Vec<Field>,
    /// Labels whose values are functions of the result.
    pub(crate) results: Vec<Field>,
    pub(crate) settings: Settings,
    error_type: ErrorType,
    /// The parameters of the `impl` block around a method, if the block passed them on.
    impl_parameters: Option<Vec<Ident>>,
    pub(crate) shared: Shared,
    /// The options that were written.
    seen: Vec<Ident>,
    /// True if an unknown option was reported, so that a missing metric is not a second mistake.
    mistaken: bool,
    /// The location of the attribute.
    pub(crate) place: Site,
}

/// The error types that `calls` and `errors` distinguish.
enum ErrorType {
    /// The error types of the return type in the signature.
    OfSignature,
    Given(Path),
    None,
}

impl Metrics {
    /// Returns the variables that are the whole value of a label.
    pub(crate) fn bare_labels(&self) -> Vec<&Ident> {
        fn bare(field: &Field) -> Option<&Ident> {
            match &field.value {
                Expr::Path(path) => path.path.get_ident(),
                _ => None,
            }
        }
        self.labels.iter().filter_map(bare).collect()
    }

    fn none_at(place: Site) -> Self {
        Self {
            instruments: Vec::new(),
            labels: Vec::new(),
            results: Vec::new(),
            settings: Settings::default(),
            error_type: ErrorType::OfSignature,
            impl_parameters: None,
            shared: Shared::default(),
            seen: Vec::new(),
            mistaken: false,
            place,
        }
    }

    /// Returns the option `name` with its location; `None` if it was not written.
    pub(crate) fn written(&self, name: &str) -> Option<&Ident> {
        self.seen.iter().find(|seen| *seen == name)
    }

    /// Returns whether no metric was requested, valid or not. False after an unknown option, which may be a misspelled metric.
    pub(crate) fn is_empty(&self) -> bool {
        !self.mistaken && !self.has(|_| true)
    }

    /// Returns whether a metric was requested, valid or not, for which `test` returns true.
    fn has(&self, test: impl Fn(Role) -> bool) -> bool {
        self.seen.iter().filter_map(|option| Role::named(&option.to_string())).any(test)
    }

    /// Returns every expression of the user's that is evaluated at the call.
    pub(crate) fn expressions(&self) -> TokenStream {
        self.labels.iter().map(|label| label.value.to_token_stream()).collect()
    }

    /// Returns a `Result` type whose error has the error types of the calls; `output` is the observed type, if any. `None` if no
    /// metric distinguishes error types, or if they are unknown.
    pub(crate) fn error_set(&self, output: Option<&Type>, sig: &Signature) -> Option<TokenStream> {
        if !self.instruments.iter().any(|instrument| instrument.role.has_error_type()) {
            return None;
        }
        match &self.error_type {
            ErrorType::OfSignature => error_set::of_type(output?, sig, self.impl_parameters.as_deref()),
            ErrorType::Given(path) => Some(error_set::of_error(path)),
            ErrorType::None => None,
        }
    }
}
