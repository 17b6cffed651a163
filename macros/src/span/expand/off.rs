//! Telemetry compiled out: the function as it was, and a dead check of the user's expressions.

use proc_macro2::{Span as Site, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{ReturnType, Type};

use super::super::model::{Form, Observe, Wrapped};
use super::super::options::Options;
use super::super::shape::{inferred, peel};
use super::{after, fields, handler, meter, with_body, with_group};

pub(super) fn function(wrapped: &Wrapped) -> TokenStream {
    let span = check(&wrapped.telemetry.options, check_result(wrapped));
    let checks: TokenStream = span.into_iter().chain(check_metrics(wrapped)).collect();
    match checks.is_empty() {
        true => with_group(wrapped, &wrapped.function.sig, &wrapped.body),
        false => with_body(wrapped, &wrapped.function.sig, after(&checks, &wrapped.body)),
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
    let (aliases, statements) = (fields::aliases(options.fields()), fields::statements(options));
    let fields = options.has_fields().then(|| quote_spanned!(site=> #k::check(|__tc_start| { #statements });));
    Some(quote_spanned!(site=> if false { #aliases #parent #fields #result }))
}

/// The closures of `result(..)`, given a value of the type that the signature names.
fn check_result(wrapped: &Wrapped) -> Option<TokenStream> {
    let (k, site) = (wrapped.telemetry.options.krate.private(), Site::mixed_site());
    if wrapped.telemetry.options.result.is_empty() {
        return None;
    }
    let (ty, sets) = (observed_type(wrapped, &wrapped.observe)?, handler::set_fields(wrapped, "__tc_start"));
    Some(quote_spanned! {site=>
        #k::check(|__tc_start| {
            let __tc_result = &#k::unreachable_value::<#ty>();
            #sets
        });
    })
}

/// The same for metrics: the values of their labels. That they are within their budgets is checked as ever.
fn check_metrics(wrapped: &Wrapped) -> Option<TokenStream> {
    let (metrics, krate) = (wrapped.telemetry.metrics.as_ref()?, &wrapped.telemetry.options.krate);
    let (k, site) = (krate.private(), Site::mixed_site());
    let (checks, labels) = (meter::checks(wrapped), meter::labels(metrics, krate));
    let results = observed_type(wrapped, &wrapped.judge).filter(|_| !metrics.results.is_empty()).map(|ty| {
        let sets = handler::set_each(&metrics.results, "label", &quote_spanned!(site=> #k::Labels::new()), &k);
        quote_spanned!(site=> let __tc_result = &#k::unreachable_value::<#ty>(); #sets)
    });
    Some(quote_spanned!(site=> if false { #checks #k::check_labels(#labels); #results }))
}

/// The type of the value that is looked at; `None` if the signature does not say all of it.
fn observed_type(wrapped: &Wrapped, observe: &Observe) -> Option<TokenStream> {
    let ty = match (&wrapped.form, observe, &wrapped.function.sig.output) {
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
