//! Options that `tc_span` and `tc_metric` share; a function with both attributes may have them on either.

use quote::ToTokens;
use syn::{Expr, Ident, Path};

use super::{Cover, Flag, Options};
use crate::krate::Krate;

/// The shared options of `tc_metric`.
#[derive(Default)]
pub(crate) struct Shared {
    cover: Option<(Cover, Ident)>,
    no_err: Flag,
    err_if: Option<Expr>,
    krate: Option<Krate>,
    seen: Vec<Ident>,
}

impl Shared {
    /// Sets an option without a value; returns false if the option is not a shared one.
    pub(crate) fn flag(&mut self, option: &Ident) -> bool {
        let cover = Cover::named(&option.to_string());
        if let Some(cover) = cover {
            self.cover.get_or_insert((cover, option.clone()));
        } else if option == "no_err" {
            self.no_err = Some(option.clone());
        } else {
            return false;
        }
        self.seen.push(option.clone());
        true
    }

    /// Sets `err_if = |error| ..`.
    pub(crate) fn set_err_if(&mut self, option: &Ident, err_if: Expr) {
        self.err_if = Some(err_if);
        self.seen.push(option.clone());
    }

    /// Sets `crate = path`.
    pub(crate) fn set_crate(&mut self, option: &Ident, path: Path) {
        self.krate = Some(Krate::new(path.into_token_stream()));
        self.seen.push(option.clone());
    }
}

impl Options {
    /// Adds the shared options of `tc_metric`. Options of the span have precedence.
    pub(super) fn adopt(&mut self, shared: &Shared) {
        if let (Some(krate), None) = (&shared.krate, self.written("crate")) {
            self.krate = krate.clone();
        }
        self.cover = self.cover.take().or_else(|| shared.cover.clone());
        self.no_err = self.no_err.take().or_else(|| shared.no_err.clone());
        self.err_if = self.err_if.take().or_else(|| shared.err_if.clone());
        self.seen.extend(shared.seen.iter().cloned());
    }
}
