//! `tc_keys!`: declarations of typed keys.

mod expand;
mod model;

use proc_macro2::TokenStream;

pub(crate) use self::model::{ad_hoc_type, check_wire};
use crate::krate::Krate;

/// Expands the input of `tc_keys!`, after `crate = path;`.
pub(crate) fn declare(input: TokenStream) -> TokenStream {
    let (krate, input) = Krate::split(input);
    let (keys, errors) = model::parse(input);
    // Keys with mistakes are declared too, if they could be parsed, so that each mistake gives one error.
    let mut tokens = errors.into_tokens();
    tokens.extend(keys.iter().map(|key| expand::key(key, &krate)));
    tokens
}

#[cfg(test)]
mod tests;
