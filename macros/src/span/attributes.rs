//! What the other attributes of a function mean for its expansion.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Attribute;
use syn::parse::{ParseStream, Parser};

/// Built-in attributes that a function keeps whatever becomes of its signature.
const BUILT_IN: [&str; 24] = [
    "doc",
    "inline",
    "cold",
    "allow",
    "expect",
    "warn",
    "deny",
    "forbid",
    "cfg",
    "cfg_attr",
    "deprecated",
    "track_caller",
    "target_feature",
    "no_mangle",
    "export_name",
    "link_section",
    "unsafe",
    "rustfmt",
    "clippy",
    "diagnostic",
    "automatically_derived",
    "optimize",
    "coverage",
    "tc_metric",
];
const REPORTED: &str = "__tc_reported";
const LINTS: [&str; 5] = ["allow", "expect", "warn", "deny", "forbid"];

/// Whether a function must stay an `async fn` for what else is on it.
///
/// Attribute macros such as `#[tokio::test]` demand one, and `#[must_use]` means the awaited value there.
pub(crate) fn demand_async(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| {
        let first = attr.path().segments.first();
        !first.is_some_and(|first| BUILT_IN.contains(&&*first.ident.to_string())) && !is_last(attr, "tc_metric")
    })
}

/// `#[track_caller]`, under which a body must not move into a closure.
pub(crate) fn track_caller(attrs: &[Attribute]) -> Option<&Attribute> {
    attrs.iter().find(|attr| attr.path().is_ident("track_caller"))
}

pub(crate) fn is_lint(attr: &Attribute) -> bool {
    LINTS.iter().any(|name| attr.path().is_ident(name))
}

pub(crate) fn is_cfg(attr: &Attribute) -> bool {
    attr.path().is_ident("cfg")
}

/// Whether this is our own attribute, under whatever path it was imported.
pub(crate) fn is_span(attr: &Attribute) -> bool {
    is_last(attr, "tc_span")
}

/// Whether this is our other attribute.
pub(crate) fn is_metric(attr: &Attribute) -> bool {
    is_last(attr, "tc_metric")
}

/// Takes the attributes that `is_ours` out of those in front of an item.
///
/// The item is not parsed for that: if it is none that we know, an error should come of one attribute only.
pub(crate) fn take(item: TokenStream, is_ours: fn(&Attribute) -> bool) -> (Vec<Attribute>, TokenStream) {
    let split = |input: ParseStream| Ok((input.call(Attribute::parse_outer)?, input.parse::<TokenStream>()?));
    match split.parse2(item.clone()) {
        Ok((attrs, rest)) if attrs.iter().any(is_ours) => {
            let (ours, others): (Vec<_>, Vec<_>) = attrs.into_iter().partition(is_ours);
            (ours, quote!(#(#others)* #rest))
        }
        _ => (Vec::new(), item),
    }
}

/// The attribute with a word in place of its options by which it does nothing: its mistakes were reported.
pub(crate) fn reported(attr: &Attribute) -> TokenStream {
    let (path, word) = (attr.path(), Ident::new(REPORTED, Span::mixed_site()));
    quote!(#[#path(#word)])
}

/// Whether the options of an attribute are that word.
pub(crate) fn is_reported(args: &TokenStream) -> bool {
    args.to_string() == REPORTED
}

fn is_last(attr: &Attribute, name: &str) -> bool {
    attr.path().segments.last().is_some_and(|last| last.ident == name)
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn macros_demand_async() {
        assert!(demand_async(&[parse_quote!(#[tokio::test])]));
        assert!(demand_async(&[parse_quote!(#[inline]), parse_quote!(#[must_use])]));
        let known = [
            parse_quote!(#[unsafe(no_mangle)]),
            parse_quote!(#[rustfmt::skip]),
            parse_quote!(#[tracecast::tc_metric(a)]),
        ];
        assert!(!demand_async(&known));
    }
}
