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
use super::super::model::Span;
use super::super::shape::{inferred, peel};
use super::{after, callsite, handler, with_body};

/// `fn f(..) -> impl Future`.
pub(super) fn future(span: &Span) -> TokenStream {
    converted(span, "Instrumented")
}

/// The same, but the span goes on with the stream that the future makes.
pub(super) fn stream(span: &Span) -> TokenStream {
    converted(span, "InstrumentedStreamFuture")
}

fn converted(span: &Span, wrapper: &str) -> TokenStream {
    let (site, k) = (Site::mixed_site(), span.options.krate.private());
    let mut sig = span.function.sig.clone();
    let needed = span.options.expressions();
    let rebound = rebind(&mut sig, |name| mentions(needed.clone(), name));
    return_future(&mut sig, &k);
    let begin = callsite::begin_with(&span.options, &rebound.fields);
    let callsite = callsite::declare(&span.options, &span.name);
    let (body, handler) = (typed_body(span, &k), handler::handler(span));
    let (wrapper, arguments) = (syn::Ident::new(wrapper, site), &rebound.block);
    let new_body = quote_spanned! {site=>
        #callsite
        #k::#wrapper::new(#begin, async move { #arguments #body }, #handler)
    };
    with_body(span, &ending_in_user_tokens(&sig), new_body)
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
pub(super) fn kept(span: &Span) -> TokenStream {
    let k = span.options.krate.private();
    let (callsite, begin) = (callsite::declare(&span.options, &span.name), callsite::begin(&span.options));
    let (body, handler) = (typed_body(span, &k), handler::handler(span));
    let new_body = quote_spanned! {Site::mixed_site()=>
        #callsite
        #k::Instrumented::new(#begin, async move { #body }, #handler).await
    };
    with_body(span, &span.function.sig, new_body)
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
fn typed_body(span: &Span, k: &TokenStream) -> TokenStream {
    let (site, body) = (Site::mixed_site(), &span.body);
    let ReturnType::Type(_, ty) = &span.function.sig.output else {
        return after(&quote_spanned!(site=> if false { return; }), body);
    };
    let never = never(ty, k);
    let allow =
        never.is_some().then(|| quote_spanned!(site=> #[allow(unreachable_code, clippy::diverging_sub_expression)]));
    // At the return type, because the compiler shows this as the reason for an error in the body.
    let place = ty.span().resolved_at(site);
    let k = span.options.krate.private_at(place);
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
