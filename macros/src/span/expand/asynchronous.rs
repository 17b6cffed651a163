//! An `async fn`.
//!
//! It becomes a `fn` that returns a future: an `async fn` around an async block would store its arguments twice, and
//! would take parent and attributes at the first poll instead of at the call.

use proc_macro2::{Span as Site, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{ReturnType, Signature, Type};

use super::super::arguments::rebind;
use super::super::body::mentions;
use super::super::model::Wrapped;
use super::super::shape::{inferred, peel};
use super::runtime::Wrapper;
use super::{after, callsite, handler, with_body};

/// `fn f(..) -> impl Future`.
pub(super) fn future(wrapped: &Wrapped) -> TokenStream {
    converted(wrapped, Wrapper::Future)
}

/// The same, but the span goes on with the stream that the future makes.
pub(super) fn stream(wrapped: &Wrapped) -> TokenStream {
    converted(wrapped, Wrapper::StreamFuture)
}

fn converted(wrapped: &Wrapped, wrapper: Wrapper) -> TokenStream {
    let (site, k) = (Site::mixed_site(), wrapped.telemetry.options.krate.private());
    let mut sig = wrapped.function.sig.clone();
    let needed = wrapped.telemetry.expressions();
    let rebound = rebind(&mut sig, |name| mentions(needed.clone(), name));
    return_future(&mut sig, &k);
    let begin = callsite::begin_with(&wrapped.telemetry, &rebound.fields);
    let callsite = callsite::declare(wrapped);
    let (body, handlers) = (typed_body(wrapped, &k), handler::handlers(wrapped));
    let (wrapper, arguments) = (wrapper.ident(&wrapped.telemetry), &rebound.block);
    let new_body = quote_spanned! {site=>
        #callsite
        #k::#wrapper::new(#begin, async move { #arguments #body }, #handlers)
    };
    with_body(wrapped, &ending_in_user_tokens(&sig), new_body)
}

/// The signature, which ends in a type of ours, with an empty `where` of the user's behind it.
///
/// The compiler takes an item whose signature ends in our tokens for ours, and no longer lints it.
fn ending_in_user_tokens(sig: &Signature) -> TokenStream {
    match &sig.generics.where_clause {
        Some(clause) if !clause.predicates.is_empty() => sig.to_token_stream(),
        _ => quote_spanned!(sig.fn_token.span=> #sig where),
    }
}

/// Another attribute demands an `async fn`.
pub(super) fn kept(wrapped: &Wrapped) -> TokenStream {
    let k = wrapped.telemetry.options.krate.private();
    let (callsite, begin) = (callsite::declare(wrapped), callsite::begin(&wrapped.telemetry));
    let (body, handlers) = (typed_body(wrapped, &k), handler::handlers(wrapped));
    let wrapper = Wrapper::Future.ident(&wrapped.telemetry);
    let new_body = quote_spanned! {Site::mixed_site()=>
        #callsite
        #k::#wrapper::new(#begin, async move { #body }, #handlers).await
    };
    with_body(wrapped, &wrapped.function.sig, new_body)
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

/// The body, after the block was told its output type: without it coercions and `.into()` would not compile.
fn typed_body(wrapped: &Wrapped, k: &TokenStream) -> TokenStream {
    let (site, body) = (Site::mixed_site(), &wrapped.body);
    let ReturnType::Type(_, ty) = &wrapped.function.sig.output else {
        return after(&quote_spanned!(site=> if false { return; }), body);
    };
    let never = never(ty, k);
    let allow =
        never.is_some().then(|| quote_spanned!(site=> #[allow(unreachable_code, clippy::diverging_sub_expression)]));
    // At the return type, because the compiler shows this as the reason for an error in the body.
    let place = ty.span().resolved_at(site);
    let k = wrapped.telemetry.options.krate.private_at(place);
    let output = never.or_else(|| inferred(ty)).map(|ty| {
        let value = quote_spanned!(place=> return #k::unreachable_value::<#ty>(););
        quote_spanned!(site=> #allow if false { #value })
    });
    after(&output.unwrap_or_default(), body)
}

/// `!` may only stand behind an arrow.
fn never(ty: &Type, k: &TokenStream) -> Option<TokenStream> {
    matches!(peel(ty), Type::Never(_)).then(|| quote_spanned!(Site::mixed_site()=> <fn() -> ! as #k::FnOutput>::Output))
}
