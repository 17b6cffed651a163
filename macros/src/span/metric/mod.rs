//! The options of `#[tc_metric(...)]`: grammar and every check that needs no function.

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

/// The metrics of a function, as far as they were right.
pub(crate) struct Metrics {
    pub(crate) instruments: Vec<Instrument>,
    /// Labels whose values are known at the call.
    pub(crate) labels: Vec<Field>,
    /// Labels whose values are functions of the result.
    pub(crate) results: Vec<Field>,
    pub(crate) settings: Settings,
    error_type: ErrorType,
    /// The parameters of the `impl` block around a method, if that told them.
    impl_parameters: Option<Vec<Ident>>,
    pub(crate) shared: Shared,
    /// Every option that was written.
    seen: Vec<Ident>,
    /// Something was written that is no option, and reported: that a metric is missing is no second mistake.
    mistaken: bool,
    /// Where the attribute stands.
    pub(crate) place: Site,
}

/// Which types of errors are told apart.
enum ErrorType {
    /// Those that the signature names.
    OfSignature,
    Given(Path),
    None,
}

impl Metrics {
    /// The words that are the value of a label as they stand.
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

    /// The place where the option `name` was written.
    pub(crate) fn written(&self, name: &str) -> Option<&Ident> {
        self.seen.iter().find(|seen| *seen == name)
    }

    /// Whether no metric was asked for, right or wrong.
    pub(crate) fn is_empty(&self) -> bool {
        !self.mistaken && !self.has(|_| true)
    }

    /// Whether a metric was asked for, right or wrong, of which `test` holds.
    fn has(&self, test: impl Fn(Role) -> bool) -> bool {
        self.seen.iter().filter_map(|option| Role::named(&option.to_string())).any(test)
    }

    /// Every expression of the user's that is evaluated at the call.
    pub(crate) fn expressions(&self) -> TokenStream {
        self.labels.iter().map(|label| label.value.to_token_stream()).collect()
    }

    /// A `Result` whose error has the types that calls may fail with; `output` is what is looked at, if anything is.
    pub(crate) fn error_set(&self, output: Option<&Type>, sig: &Signature) -> Option<TokenStream> {
        if !self.instruments.iter().any(|instrument| instrument.role.tells_errors()) {
            return None;
        }
        match &self.error_type {
            ErrorType::OfSignature => error_set::of_type(output?, sig, self.impl_parameters.as_deref()),
            ErrorType::Given(path) => Some(error_set::of_error(path)),
            ErrorType::None => None,
        }
    }
}
