//! Finds the other attributes of a function that affect its expansion.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Attribute;
use syn::parse::{ParseStream, Parser};

/// Attributes that work with any signature: built-in ones, and `tc_metric`.
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

/// Returns whether other attributes require that a function remains an `async fn`.
///
/// Every attribute that is not known to work with any signature counts: attribute macros such as `#[tokio::test]` require an
/// `async fn`, and `#[must_use]` on an `async fn` refers to the awaited value.
pub(crate) fn demand_async(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| {
        let first = attr.path().segments.first();
        !first.is_some_and(|first| BUILT_IN.contains(&&*first.ident.to_string())) && !is_last(attr, "tc_metric")
    })
}

/// Returns `#[track_caller]`, if present. The body must then not move into a closure, where the caller would be a wrong one.
pub(crate) fn track_caller(attrs: &[Attribute]) -> Option<&Attribute> {
    attrs.iter().find(|attr| attr.path().is_ident("track_caller"))
}

pub(crate) fn is_lint(attr: &Attribute) -> bool {
    LINTS.iter().any(|name| attr.path().is_ident(name))
}

pub(crate) fn is_cfg(attr: &Attribute) -> bool {
    attr.path().is_ident("cfg")
}

/// Returns whether this is `#[tc_span]`, with or without a path before the name.
pub(crate) fn is_span(attr: &Attribute) -> bool {
    is_last(attr, "tc_span")
}

/// Returns whether this is `#[tc_metric]`, with or without a path before the name.
pub(crate) fn is_metric(attr: &Attribute) -> bool {
    is_last(attr, "tc_metric")
}

/// Removes the attributes for which `is_ours` is true from an item; returns these attributes and the rest of the item.
///
/// The item itself is not parsed here, so that an unsupported item causes an error from one attribute only.
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

/// Returns the attribute with a marker in place of its options. The marker disables the attribute, which was already handled
/// together with the other one.
pub(crate) fn reported(attr: &Attribute) -> TokenStream {
    let (path, word) = (attr.path(), Ident::new(REPORTED, Span::mixed_site()));
    quote!(#[#path(#word)])
}

/// Returns whether the options of an attribute are the marker of `reported`.
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
