//! `tc_scope!`: a guard whose life is the span.

use proc_macro2::{Span as Site, TokenStream};
use quote::quote_spanned;

use super::super::options::Options;
use super::{callsite, off};
use crate::krate::Krate;

/// The expression that makes the guard.
pub(crate) fn scope(options: &Options, name: &str) -> TokenStream {
    let (k, site) = (options.krate.private(), Site::mixed_site());
    if cfg!(feature = "off") {
        let check = off::check(options, None);
        return quote_spanned!(site=> { #check #k::Scope::none() });
    }
    let (callsite, enter) = (callsite::declare(options, name), callsite::enter(options));
    quote_spanned!(site=> { #callsite #k::Scope::new(#enter) })
}

/// The errors, and a guard that does nothing, so that there are no errors after them.
pub(crate) fn scope_error(krate: &Krate, error: Option<syn::Error>) -> TokenStream {
    let (k, error) = (krate.private(), error.map(syn::Error::into_compile_error));
    quote_spanned!(Site::mixed_site()=> { #error #k::Scope::none() })
}
