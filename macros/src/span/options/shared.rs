//! Options that `tc_span` and `tc_metric` have in common: each may stand in either.

use quote::ToTokens;
use syn::{Expr, Ident, Path};

use super::{Cover, Flag, Options};
use crate::krate::Krate;

/// What `tc_metric` says of them.
#[derive(Default)]
pub(crate) struct Shared {
    cover: Option<(Cover, Ident)>,
    no_err: Flag,
    err_if: Option<Expr>,
    krate: Option<Krate>,
    seen: Vec<Ident>,
}

impl Shared {
    /// Takes an option that is only a word; whether it is one of these.
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

    /// Takes `err_if = |error| ..`.
    pub(crate) fn set_err_if(&mut self, option: &Ident, err_if: Expr) {
        self.err_if = Some(err_if);
        self.seen.push(option.clone());
    }

    /// Takes `crate = path`.
    pub(crate) fn set_crate(&mut self, option: &Ident, path: Path) {
        self.krate = Some(Krate::new(path.into_token_stream()));
        self.seen.push(option.clone());
    }
}

impl Options {
    /// Adds what `tc_metric` says; of the path to the crate the span's own comes first.
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
