//! `#[tc_span]`, `#[tc_metric]` and `tc_scope!`: from tokens to a checked model to generated code.

mod arguments;
mod attributes;
mod body;
mod common;
mod expand;
mod impl_block;
mod item;
mod lifetimes;
mod metric;
mod model;
mod options;
mod pattern;
mod shape;
mod telemetry;

use proc_macro2::{Span as Site, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Attribute, Meta};

use self::item::{Attr, Function, Item};
use self::model::Wrapped;
use self::options::Place;
use self::telemetry::Telemetry;
use crate::diagnostics::Errors;
use crate::krate::Krate;

/// Expands the attribute `#[tc_span(args)]` on `item`.
pub(crate) fn attribute(args: TokenStream, item: TokenStream) -> TokenStream {
    if let Some(expanded) = common::expand(&args, &item) {
        return expanded;
    }
    if attributes::is_reported(&args) {
        return item;
    }
    let (metrics, item) = attributes::take(item, attributes::is_metric);
    kept_on_error(&metrics, &item, || match (item::parse(item.clone(), Attr::Span)?, metrics.first()) {
        (Item::Function(function), _) => on_function(Some(args), only(&metrics, model::ONE_METRIC)?, *function),
        (Item::Impl(_), None) => impl_block::expand(args, item.clone()),
        (Item::Impl(_), Some(metric)) => Err(syn::Error::new_spanned(metric, ON_IMPL)),
    })
}

/// Expands the attribute `#[tc_metric(args)]` on `item`.
pub(crate) fn metric_attribute(args: TokenStream, item: TokenStream) -> TokenStream {
    if attributes::is_reported(&args) {
        return item;
    }
    let (spans, item) = attributes::take(item, attributes::is_span);
    kept_on_error(&spans, &item, || match item::parse(item.clone(), Attr::Metric)? {
        Item::Function(function) => {
            let span = only(&spans, model::ONE_SPAN)?.map(|(args, _)| args);
            on_function(span, Some((args, Site::call_site())), *function)
        }
        Item::Impl(place) => Err(syn::Error::new(place, ON_IMPL)),
    })
}

/// Returns the expansion of an item, or the error and the unchanged item, so that one mistake gives one error.
///
/// The first of `tc_span` and `tc_metric` on a function removes the other one, `taken`, and expands both together. The removed
/// attribute is added again with a marker that disables it; otherwise the compiler would warn that its import is unused.
fn kept_on_error(
    taken: &[Attribute],
    item: &TokenStream,
    expand: impl FnOnce() -> syn::Result<TokenStream>,
) -> TokenStream {
    let taken = taken.iter().map(attributes::reported);
    match expand() {
        Ok(expanded) => quote!(#(#taken)* #expanded),
        Err(error) => {
            let error = error.into_compile_error();
            quote!(#error #(#taken)* #item)
        }
    }
}

/// Returns the arguments and the location of the attribute in `attrs`; `None` if there is no attribute. Several are an error with
/// `message`.
fn only(attrs: &[Attribute], message: &str) -> syn::Result<Option<(TokenStream, Site)>> {
    if let Some(second) = attrs.get(1) {
        return Err(syn::Error::new_spanned(second, message));
    }
    let Some(attr) = attrs.first() else { return Ok(None) };
    let place = attr.path().span();
    match &attr.meta {
        Meta::Path(_) => Ok(Some((TokenStream::new(), place))),
        Meta::List(list) => Ok(Some((list.tokens.clone(), place))),
        Meta::NameValue(_) => Err(syn::Error::new_spanned(&attr.meta, "options need parentheses; write `(..)`")),
    }
}

fn on_function(
    span: Option<TokenStream>,
    metrics: Option<(TokenStream, Site)>,
    function: Function,
) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let wrapped = wrapped(span, metrics, function, &mut errors);
    wrapped.telemetry.options.krate.check("crate = path::to::tracecast", &mut errors);
    errors.finish()?;
    Ok(expand::function(&wrapped))
}

fn wrapped(
    span: Option<TokenStream>,
    metrics: Option<(TokenStream, Site)>,
    function: Function,
    errors: &mut Errors,
) -> Wrapped {
    let metrics = metrics.map(|(args, place)| metric::read(args, place, errors));
    let has_span = span.is_some();
    let mut options = options::read_function(span, metrics.as_ref().map(|metrics| &metrics.shared), errors);
    options.infer_types(Some(&function.sig));
    let name = has_span.then(|| model::name(&options, &function, errors));
    Wrapped::new(Telemetry { options, name, metrics }, function, errors)
}

const ON_IMPL: &str = "`tc_metric` cannot be put on an `impl` block; put it on the methods, each with its own metrics";

/// Expands the input of `tc_scope!`, after `crate = path;`.
pub(crate) fn scope(input: TokenStream) -> TokenStream {
    let (krate, tokens) = Krate::split(input);
    let mut errors = Errors::default();
    let mut options = options::read(tokens, Place::Scope, &mut errors);
    options.krate = krate.clone();
    options.infer_types(None);
    if options.name.is_none() && !options.name_mistaken {
        let message = "a scope needs a name: `tc_scope!(\"Component/Operation\")`";
        errors.add(syn::Error::new(Site::call_site(), message));
    }
    let name = options.name.as_ref().map(syn::LitStr::value);
    match (name, errors.finish()) {
        (Some(name), Ok(())) => expand::scope(&Telemetry::span(options, name)),
        (_, error) => expand::scope_error(&krate, error.err()),
    }
}

#[cfg(test)]
mod tests;
