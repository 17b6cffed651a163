//! Telemetry compiled out: the function as it was, and a dead check of the user's expressions.

use proc_macro2::{Span as Site, TokenStream};
use quote::quote_spanned;

use super::super::model::Span;
use super::super::options::Options;
use super::{after, fields, with_body, with_group};

pub(super) fn function(span: &Span) -> TokenStream {
    match check(&span.options) {
        None => with_group(span, &span.function.sig, &span.body),
        Some(check) => with_body(span, &span.function.sig, after(&check, &span.body)),
    }
}

/// Never runs; compiles only if every expression has the type that it needs when telemetry is on.
pub(super) fn check(options: &Options) -> Option<TokenStream> {
    let (k, site) = (options.krate.private(), Site::mixed_site());
    if options.parent.is_none() && !options.has_fields() {
        return None;
    }
    let parent = options.parent.as_ref().map(|parent| {
        let (k, site) = (options.krate.private_at(fields::site_of(parent)), fields::site_of(parent));
        quote_spanned!(site=> #k::check_parent(|| #parent);)
    });
    let statements = fields::statements(options);
    let fields = options.has_fields().then(|| quote_spanned!(site=> #k::check(|__tc_start| { #statements });));
    Some(quote_spanned!(site=> if false { #parent #fields }))
}
