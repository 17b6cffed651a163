//! An `async fn`.
//!
//! It becomes a `fn` that returns a future: an `async fn` around an async block would store its arguments twice, and
//! would take parent and attributes at the first poll instead of at the call.

use proc_macro2::{Span as Site, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{ReturnType, Signature, Type};

use super::super::arguments::rebind;
use super::super::body::mentions;
use super::super::model::Span;
use super::super::shape::{inferred, peel};
use super::{callsite, fields, handler, with_body};

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
    let needed = needed_outside(span);
    let arguments = rebind(&mut sig, |name| mentions(needed.clone(), name));
    return_future(&mut sig, &k);
    let (callsite, begin) = (callsite::declare(&span.options, &span.name), callsite::begin(&span.options));
    let (body, handler) = (typed_body(span, &k), handler::handler(span));
    let wrapper = syn::Ident::new(wrapper, site);
    let new_body = quote_spanned! {site=>
        #callsite
        #k::#wrapper::new(#begin, async move { #arguments #body }, #handler)
    };
    with_body(span, &sig, &new_body)
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
    with_body(span, &span.function.sig, &new_body)
}

/// What runs outside of the block and may use arguments.
fn needed_outside(span: &Span) -> TokenStream {
    let mut tokens = span.options.parent.to_token_stream();
    tokens.extend(fields::statements(&span.options));
    tokens
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
///
/// The body is a branch or an arm, so that temporaries of its tail drop before the arguments in every edition.
fn typed_body(span: &Span, k: &TokenStream) -> TokenStream {
    let (site, body) = (Site::mixed_site(), &span.body);
    let ReturnType::Type(_, ty) = &span.function.sig.output else {
        return quote_spanned!(site=> if false {} else #body);
    };
    let never = never(ty, k);
    let allow = never.is_some().then(|| quote_spanned!(site=> #[allow(unreachable_code, clippy::diverging_sub_expression)]));
    let output = never.or_else(|| inferred(ty)).map(|ty| {
        quote_spanned! {site=>
            #allow
            if false {
                return #k::unreachable_value::<#ty>();
            }
        }
    });
    quote_spanned!(site=> #output match () { () => #body })
}

/// `!` may only stand behind an arrow.
fn never(ty: &Type, k: &TokenStream) -> Option<TokenStream> {
    matches!(peel(ty), Type::Never(_)).then(|| quote_spanned!(Site::mixed_site()=> <fn() -> ! as #k::FnOutput>::Output))
}
