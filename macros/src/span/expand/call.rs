//! A function whose span is the call.

use proc_macro2::{Span as Site, TokenStream};
use quote::quote_spanned;
use syn::ReturnType;

use super::super::arguments::rebind_mutable;
use super::super::metric::Metrics;
use super::super::model::Wrapped;
use super::super::shape::{inferred, nothing_to_drop};
use super::runtime::Wrapper;
use super::{after, callsite, handler, with_body};

/// The body runs in a closure, so that its value can be looked at however the body is left.
///
/// One closure begins the span, if it is given one to begin, and then runs the body: so attributes may borrow what the
/// body consumes, the way for "on" is a single call that keeps nothing alive, and the way for "off" is the body alone.
/// The closure takes what it captures as the body needs it: arguments drop as before. Only where nothing can drop does
/// it capture by move, because then arguments in registers need not be stored for it.
pub(super) fn observed(wrapped: &Wrapped) -> TokenStream {
    let k = wrapped.telemetry.options.krate.private();
    let callsite = callsite::declare(wrapped);
    let mut sig = wrapped.function.sig.clone();
    let (arguments, start) = (rebind_mutable(&mut sig), callsite::start(&wrapped.telemetry));
    let body = after(&quote_spanned!(Site::mixed_site()=> #arguments #start), &wrapped.body);
    let output = closure_output(&wrapped.function.sig.output);
    let handlers = handler::handlers(wrapped);
    let [body_of, run] = [Wrapper::Body, Wrapper::Run].map(|wrapper| wrapper.ident(&wrapped.telemetry));
    let labels = wrapped.telemetry.metrics.as_ref().map(Metrics::bare_labels).unwrap_or_default();
    let by_move = nothing_to_drop(&sig, &labels).then(|| quote_spanned!(Site::mixed_site()=> move));
    let new_body = quote_spanned! {Site::mixed_site()=>
        #callsite
        let __tc_body = #k::#body_of(#by_move |__tc_start| #output { #body });
        if __TC_CALLSITE.is_on() {
            #k::#run(&__TC_CALLSITE, __tc_body, #handlers)
        } else {
            __tc_body(::core::option::Option::None)
        }
    };
    with_body(wrapped, &sig, new_body)
}

/// The body stays where it is, as `#[track_caller]` demands; nothing looks at its value.
pub(super) fn guarded(wrapped: &Wrapped) -> TokenStream {
    let k = wrapped.telemetry.options.krate.private();
    let callsite = callsite::declare(wrapped);
    let enter = callsite::enter(&wrapped.telemetry);
    let scope = Wrapper::Scope.ident(&wrapped.telemetry);
    let guard = quote_spanned!(Site::mixed_site()=> #callsite let __tc_guard = #k::#scope::new(#enter););
    with_body(wrapped, &wrapped.function.sig, after(&guard, &wrapped.body))
}

/// The return type for a closure around the body, so that coercions and inference work as before.
pub(super) fn closure_output(output: &ReturnType) -> Option<TokenStream> {
    let ReturnType::Type(_, ty) = output else {
        return None;
    };
    let ty = inferred(ty).unwrap_or_else(|| quote_spanned!(Site::mixed_site()=> _));
    Some(quote_spanned!(Site::mixed_site()=> -> #ty))
}
