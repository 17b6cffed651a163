//! A function whose span is the call.

use proc_macro2::{Span as Site, TokenStream};
use quote::quote_spanned;
use syn::ReturnType;

use super::super::arguments::rebind_mutable;
use super::super::model::Span;
use super::super::shape::{inferred, nothing_to_drop};
use super::{after, callsite, handler, with_body};

/// The body runs in a closure, so that its value can be looked at however the body is left.
///
/// One closure begins the span, if it is given one to begin, and then runs the body: so attributes may borrow what the
/// body consumes, the way for "on" is a single call that keeps nothing alive, and the way for "off" is the body alone.
/// The closure takes what it captures as the body needs it: arguments drop as before. Only where nothing can drop does
/// it capture by move, because then arguments in registers need not be stored for it.
pub(super) fn observed(span: &Span) -> TokenStream {
    let k = span.options.krate.private();
    let callsite = callsite::declare(&span.options, &span.name);
    let mut sig = span.function.sig.clone();
    let (arguments, start) = (rebind_mutable(&mut sig), callsite::start(&span.options));
    let body = after(&quote_spanned!(Site::mixed_site()=> #arguments #start), &span.body);
    let output = closure_output(&span.function.sig.output);
    let handler = handler::handler(span);
    let by_move = nothing_to_drop(&sig).then(|| quote_spanned!(Site::mixed_site()=> move));
    let new_body = quote_spanned! {Site::mixed_site()=>
        #callsite
        let __tc_body = #k::body(#by_move |__tc_start| #output { #body });
        if __TC_CALLSITE.is_on() {
            #k::traced(&__TC_CALLSITE, __tc_body, #handler)
        } else {
            __tc_body(::core::option::Option::None)
        }
    };
    with_body(span, &sig, new_body)
}

/// The body stays where it is, as `#[track_caller]` demands; nothing looks at its value.
pub(super) fn guarded(span: &Span) -> TokenStream {
    let k = span.options.krate.private();
    let callsite = callsite::declare(&span.options, &span.name);
    let enter = callsite::enter(&span.options);
    let guard = quote_spanned!(Site::mixed_site()=> #callsite let __tc_guard = #k::Scope::new(#enter););
    with_body(span, &span.function.sig, after(&guard, &span.body))
}

/// The return type for a closure around the body, so that coercions and inference work as before.
pub(super) fn closure_output(output: &ReturnType) -> Option<TokenStream> {
    let ReturnType::Type(_, ty) = output else {
        return None;
    };
    let ty = inferred(ty).unwrap_or_else(|| quote_spanned!(Site::mixed_site()=> _));
    Some(quote_spanned!(Site::mixed_site()=> -> #ty))
}
