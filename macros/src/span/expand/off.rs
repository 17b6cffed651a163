//! Generates a function without telemetry: the original one, and an unreachable check of the user's expressions.

use proc_macro2::{Span as Site, TokenStream};
use quote::quote_spanned;
use syn::{ReturnType, Type};

use super::super::model::{Form, Observe, Wrapped};
use super::super::shape::peel;
use super::super::telemetry::Telemetry;
use super::observer::{self, Tag, fully_named};
use super::{after, callsite, fields, meter, with_body, with_group};

pub(super) fn function(wrapped: &Wrapped) -> TokenStream {
    let checks = check(&wrapped.telemetry, meter::checks(wrapped), check_result(wrapped));
    match checks.is_none() {
        true => with_group(wrapped, &wrapped.function.sig, &wrapped.body),
        false => with_body(
            wrapped,
            &wrapped.function.sig,
            after(&checks.unwrap_or_default(), &wrapped.body, Site::mixed_site()),
        ),
    }
}

/// Generates code that is never executed but type-checks all expressions as if telemetry were on. Also checks metric budgets.
/// `None` if there is nothing to check.
pub(super) fn check(
    telemetry: &Telemetry,
    metrics: Option<TokenStream>,
    result: Option<TokenStream>,
) -> Option<TokenStream> {
    let (k, site) = (telemetry.options.krate.private(), Site::mixed_site());
    if callsite::is_plain(telemetry) && result.is_none() {
        return None;
    }
    let (aliases, begin) = (fields::aliases(&telemetry.options), callsite::beginning(telemetry, site));
    Some(quote_spanned!(site=> if false { #metrics #aliases #k::check(|__tc_begin| #begin); #result }))
}

/// Generates the closures that derive attributes and labels from a value of the type in the signature. `None` if there are none,
/// or the signature does not name the whole type.
fn check_result(wrapped: &Wrapped) -> Option<TokenStream> {
    let (k, site) = (wrapped.telemetry.options.krate.private(), Site::mixed_site());
    let ty = observed_type(wrapped, &wrapped.observe).or_else(|| observed_type(wrapped, &wrapped.judge))?;
    let values = observer::values(wrapped, &Tag::Named(quote_spanned!(site=> #k::Tag::<#ty>)));
    let otherwise = observer::otherwise(&k);
    (!values.is_empty()).then(|| quote_spanned!(site=> #otherwise #(let _ = #values;)*))
}

/// Returns the type of the observed value; `None` if the signature does not name the whole type.
fn observed_type(wrapped: &Wrapped, observe: &Observe) -> Option<TokenStream> {
    let ty = match (&wrapped.form, observe, &wrapped.function.sig.output) {
        (Form::Call | Form::Async | Form::KeptAsync, _, ReturnType::Type(_, ty)) => ty,
        (Form::Call | Form::Async | Form::KeptAsync, _, ReturnType::Default) => {
            return Some(quote_spanned!(Site::mixed_site()=> ()));
        }
        (_, Observe::Value(Some(ty)), _) => ty,
        _ => return None,
    };
    fully_named(ty).filter(|_| !matches!(peel(ty), Type::Never(_)))
}
