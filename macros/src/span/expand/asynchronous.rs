//! Generates an instrumented `async fn`.
//!
//! The `async fn` becomes a `fn` that returns a future: an `async fn` around an async block would store its arguments twice, and
//! would read parent and attributes at the first poll instead of at the call.

use proc_macro2::{Span as Site, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{ReturnType, Signature, Type};

use super::super::arguments::rebind;
use super::super::body::mentions;
use super::super::lifetimes;
use super::super::model::Wrapped;
use super::super::shape::{inferred, peel};
use super::{after, callsite, in_our_edition, observer, with_body};

/// Generates `fn f(..) -> impl Future`.
pub(super) fn future(wrapped: &Wrapped) -> TokenStream {
    converted(wrapped, |bindings, block| around(wrapped, bindings, block))
}

/// Generates `fn f(..) -> impl Future` for an `async fn` that returns a stream. The span continues with the stream.
pub(super) fn stream(wrapped: &Wrapped) -> TokenStream {
    let site = wrapped.site();
    let k = wrapped.telemetry.options.krate.private_as_of(site);
    converted(wrapped, |bindings, block| {
        let (begin, probe) = (callsite::begin(&wrapped.telemetry, bindings, site), observer::probe(wrapped));
        quote_spanned!(site=> #k::InstrumentedStreamFuture::probed(#begin, #block, #probe))
    })
}

fn converted(wrapped: &Wrapped, around: impl FnOnce(&TokenStream, &TokenStream) -> TokenStream) -> TokenStream {
    let (site, k) = (wrapped.site(), wrapped.telemetry.options.krate.private());
    let mut sig = wrapped.function.sig.clone();
    let needed = wrapped.telemetry.expressions();
    let rebound = rebind(&mut sig, |name| mentions(needed.clone(), name));
    lifetimes::name_elided(&mut sig);
    return_future(&mut sig, &k);
    let (callsite, body, arguments) = (callsite::declare(wrapped), typed_body(wrapped, &k), &rebound.block);
    let block = in_our_edition(&quote_spanned!(site=> #arguments #body), !arguments.is_empty(), site);
    let around = around(&rebound.fields, &quote_spanned!(site=> async move #block));
    with_body(wrapped, &ending_in_user_tokens(&sig), quote_spanned!(site=> #callsite #around))
}

/// Generates the async block, wrapped with its span and metrics.
fn around(wrapped: &Wrapped, bindings: &TokenStream, block: &TokenStream) -> TokenStream {
    let (site, telemetry) = (wrapped.site(), &wrapped.telemetry);
    let k = telemetry.options.krate.private_as_of(site);
    let observer = observer::of_named(wrapped);
    let otherwise = matches!(&observer, Some(Some(_))).then(|| observer::otherwise(&telemetry.options.krate.private()));
    let observer = observer.map(|observer| observer.unwrap_or_else(|| quote_spanned!(site=> ())));
    if let (true, Some(observer)) = (callsite::is_plain(telemetry), &observer) {
        return quote_spanned!(site=> #otherwise #k::wrap(&__TC_CALLSITE, #block, #observer));
    }
    let begin = callsite::begin(telemetry, bindings, site);
    let (wrap, observer) = match observer {
        Some(observer) => (quote_spanned!(site=> wrap), observer),
        None => (quote_spanned!(site=> probed), observer::probe(wrapped)),
    };
    quote_spanned!(site=> #otherwise #k::Instrumented::#wrap(#begin, #block, #observer))
}

/// Returns the signature. Unless it ends in a `where` clause, adds an empty `where` with the location of the user's `fn`.
///
/// If a signature ended in our tokens, such as our return type, the compiler would treat the item as generated and would not lint
/// it.
fn ending_in_user_tokens(sig: &Signature) -> TokenStream {
    match &sig.generics.where_clause {
        Some(clause) if !clause.predicates.is_empty() => sig.to_token_stream(),
        _ => quote_spanned!(sig.fn_token.span=> #sig where),
    }
}

/// Generates a function that remains an `async fn`, because another attribute requires one.
pub(super) fn kept(wrapped: &Wrapped) -> TokenStream {
    let (site, k) = (wrapped.site(), wrapped.telemetry.options.krate.private());
    let (callsite, body) = (callsite::declare(wrapped), typed_body(wrapped, &k));
    let around = around(wrapped, &TokenStream::new(), &quote_spanned!(site=> async move { #body }));
    with_body(wrapped, &wrapped.function.sig, quote_spanned!(site=> #callsite #around.await))
}

fn return_future(sig: &mut Signature, k: &TokenStream) {
    let site = Site::mixed_site();
    let output = match &sig.output {
        ReturnType::Default => quote_spanned!(site=> ()),
        ReturnType::Type(_, ty) => never(ty, k).unwrap_or_else(|| ty.to_token_stream()),
    };
    sig.asyncness = None;
    let future = quote_spanned!(site=> impl ::core::future::Future<Output = #output>);
    sig.output = ReturnType::Type(syn::Token![->](site), Box::new(Type::Verbatim(future)));
}

/// Generates the body with a declared output type: without the type, coercions and `.into()` would not compile.
fn typed_body(wrapped: &Wrapped, k: &TokenStream) -> TokenStream {
    let (site, body) = (Site::mixed_site(), &wrapped.body);
    let ReturnType::Type(_, ty) = &wrapped.function.sig.output else {
        return after(&quote_spanned!(site=> if false { return; }), body, site);
    };
    let never = never(ty, k);
    let allow =
        never.is_some().then(|| quote_spanned!(site=> #[allow(unreachable_code, clippy::diverging_sub_expression)]));
    // Placed at the return type, because the compiler shows it as the reason for an error in the body.
    let place = ty.span().resolved_at(site);
    let k = wrapped.telemetry.options.krate.private_at(place);
    let output = never.or_else(|| inferred(ty)).map(|ty| {
        let value = quote_spanned!(place=> return #k::Tag::<#ty>::unreachable(););
        quote_spanned!(site=> #allow if false { #value })
    });
    after(&output.unwrap_or_default(), body, site)
}

/// Returns another name of `!` if `ty` is `!`, which is allowed only after an arrow; `None` for other types.
fn never(ty: &Type, k: &TokenStream) -> Option<TokenStream> {
    matches!(peel(ty), Type::Never(_)).then(|| quote_spanned!(Site::mixed_site()=> <fn() -> ! as #k::FnOutput>::Output))
}
