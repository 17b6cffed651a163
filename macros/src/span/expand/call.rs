//! A function whose span is the call.

use proc_macro2::{Span as Site, TokenStream};
use quote::quote_spanned;
use syn::ReturnType;

use super::super::model::Span;
use super::super::shape::inferred;
use super::{callsite, handler, with_body};

/// The body runs in a closure, so that its value can be looked at however the body is left.
///
/// The closure takes what it captures as the body needs it, not by move: arguments drop as before.
pub(super) fn observed(span: &Span) -> TokenStream {
    let (k, body) = (span.options.krate.private(), &span.body);
    let callsite = callsite::declare(&span.options, &span.name);
    let enter = callsite::enter(&span.options);
    let output = closure_output(&span.function.sig.output);
    let handler = handler::handler(span);
    let new_body = quote_spanned! {Site::mixed_site()=>
        #callsite
        let __tc_span = #enter;
        let __tc_body = #k::body(|| #output #body);
        match __tc_span {
            ::core::option::Option::None => __tc_body(),
            ::core::option::Option::Some(__tc_span) => #k::run(__tc_span, __tc_body, #handler),
        }
    };
    with_body(span, &span.function.sig, &new_body)
}

/// The body stays where it is, as `#[track_caller]` demands; nothing looks at its value.
pub(super) fn guarded(span: &Span) -> TokenStream {
    let (k, body) = (span.options.krate.private(), &span.body);
    let callsite = callsite::declare(&span.options, &span.name);
    let enter = callsite::enter(&span.options);
    let new_body = quote_spanned! {Site::mixed_site()=>
        #callsite
        let __tc_guard = #k::Scope::new(#enter);
        #body
    };
    with_body(span, &span.function.sig, &new_body)
}

/// The return type for a closure around the body, so that coercions and inference work as before.
pub(super) fn closure_output(output: &ReturnType) -> Option<TokenStream> {
    let ReturnType::Type(_, ty) = output else {
        return None;
    };
    let ty = inferred(ty).unwrap_or_else(|| quote_spanned!(Site::mixed_site()=> _));
    Some(quote_spanned!(Site::mixed_site()=> -> #ty))
}
