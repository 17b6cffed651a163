//! Telemetry compiled out: the function as it was, and a dead check of the user's expressions.

use proc_macro2::{Span as Site, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{ReturnType, Type};

use super::super::model::{Form, Observe, Span};
use super::super::options::Options;
use super::super::shape::{inferred, peel};
use super::{after, fields, handler, with_body, with_group};

pub(super) fn function(span: &Span) -> TokenStream {
    let result = check_result(span);
    match check(&span.options, result) {
        None => with_group(span, &span.function.sig, &span.body),
        Some(check) => with_body(span, &span.function.sig, after(&check, &span.body)),
    }
}

/// Never runs; compiles only if every expression has the type that it needs when telemetry is on.
pub(super) fn check(options: &Options, result: Option<TokenStream>) -> Option<TokenStream> {
    let (k, site) = (options.krate.private(), Site::mixed_site());
    if options.parent.is_none() && !options.has_fields() && result.is_none() {
        return None;
    }
    let parent = options.parent.as_ref().map(|parent| {
        let (k, site) = (options.krate.private_at(fields::site_of(parent)), fields::site_of(parent));
        quote_spanned!(site=> #k::check_parent(|| #parent);)
    });
    let (aliases, statements) = (fields::aliases(options), fields::statements(options));
    let fields = options.has_fields().then(|| quote_spanned!(site=> #k::check(|__tc_start| { #statements });));
    Some(quote_spanned!(site=> if false { #aliases #parent #fields #result }))
}

/// The closures of `result(..)`, given a value of the type that the signature names.
fn check_result(span: &Span) -> Option<TokenStream> {
    let (k, site) = (span.options.krate.private(), Site::mixed_site());
    if span.options.result.is_empty() {
        return None;
    }
    let (ty, sets) = (observed_type(span)?, handler::set_fields(span, "__tc_start"));
    Some(quote_spanned! {site=>
        #k::check(|__tc_start| {
            let __tc_result = &#k::unreachable_value::<#ty>();
            #sets
        });
    })
}

/// The type of the value that is looked at; `None` if the signature does not say all of it.
fn observed_type(span: &Span) -> Option<TokenStream> {
    let ty = match (&span.form, &span.observe, &span.function.sig.output) {
        (Form::Call | Form::Async | Form::KeptAsync, _, ReturnType::Type(_, ty)) => ty,
        (Form::Call | Form::Async | Form::KeptAsync, _, ReturnType::Default) => {
            return Some(quote_spanned!(Site::mixed_site()=> ()));
        }
        (_, Observe::Value(Some(ty)), _) => ty,
        _ => return None,
    };
    let known = inferred(ty)?.to_string() == ty.to_token_stream().to_string();
    (known && !matches!(peel(ty), Type::Never(_))).then(|| ty.to_token_stream())
}
