//! `tc_scope!`: a guard whose lifetime is the span.

use proc_macro2::{Span as Site, TokenStream};
use quote::quote_spanned;

use super::super::telemetry::Telemetry;
use super::{callsite, off};
use crate::krate::Krate;

/// Generates the expression that creates the guard.
pub(crate) fn scope(telemetry: &Telemetry) -> TokenStream {
    let (k, site) = (telemetry.options.krate.private(), Site::mixed_site());
    if cfg!(feature = "off") {
        let check = off::check(telemetry, None, None);
        return quote_spanned!(site=> { #check <#k::Scope>::none() });
    }
    let (callsite, enter) = (callsite::declare_at(telemetry, site), callsite::enter(telemetry, site));
    quote_spanned!(site=> { #callsite #k::Scope::of(#enter) })
}

/// Generates the errors and a guard that does nothing, so that no further errors follow.
pub(crate) fn scope_error(krate: &Krate, error: Option<syn::Error>) -> TokenStream {
    let (k, error) = (krate.private(), error.map(syn::Error::into_compile_error));
    quote_spanned!(Site::mixed_site()=> { #error <#k::Scope>::none() })
}
