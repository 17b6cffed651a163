//! A function that returns a future or a stream, which the span covers to its end.

use proc_macro2::{Span as Site, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::ReturnType;
use syn::spanned::Spanned;

use super::super::body::Tail;
use super::super::model::Wrapped;
use super::call::closure_output;
use super::runtime::Wrapper;
use super::{after, callsite, handler, with_body};

pub(super) fn future(wrapped: &Wrapped, opaque: bool, tail: Option<&Tail>) -> TokenStream {
    expand(wrapped, tail, if opaque { Around::New } else { Around::Call(Wrapper::FixedFuture) }, Wrapper::Future)
}

pub(super) fn stream(wrapped: &Wrapped, opaque: bool, tail: Option<&Tail>) -> TokenStream {
    expand(wrapped, tail, if opaque { Around::New } else { Around::Call(Wrapper::FixedStream) }, Wrapper::Stream)
}

/// How the value of a whole body is wrapped.
enum Around {
    /// By the wrapper's own constructor.
    New,
    /// By a function that returns the same type.
    Call(Wrapper),
}

/// Wraps the async block at the tail in `wrapper` if there is one, else the value of the whole body by `around`.
fn expand(wrapped: &Wrapped, tail: Option<&Tail>, around: Around, wrapper: Wrapper) -> TokenStream {
    let (k, site) = (wrapped.telemetry.options.krate.private(), Site::mixed_site());
    let (callsite, begin) = (callsite::declare(wrapped), callsite::begin(&wrapped.telemetry));
    let (handlers, wrapper) = (handler::handlers(wrapped), wrapper.name(&wrapped.telemetry));
    let rewritten = tail.and_then(|tail| {
        // In the box that the user makes anyway, so there is no second allocation.
        let wrapper = format_ident!("{wrapper}");
        tail.rewrite(&wrapped.body, |target| quote_spanned!(site=> #k::#wrapper::new(__tc_span, #target, #handlers)))
    });
    if let Some(body) = rewritten {
        let begin = quote_spanned!(site=> #callsite let __tc_span = #begin;);
        return with_body(wrapped, &wrapped.function.sig, after(&begin, &body));
    }
    let around = match around {
        Around::New => format!("{wrapper}::new"),
        Around::Call(function) => function.name(&wrapped.telemetry).to_owned(),
    };
    let around = around_made(wrapped, &around, &begin, &handlers);
    with_body(wrapped, &wrapped.function.sig, quote_spanned!(site=> #callsite #around))
}

/// What the body returns, in its span. That it can carry none is an error at the return type.
fn around_made(wrapped: &Wrapped, around: &str, begin: &TokenStream, handlers: &TokenStream) -> TokenStream {
    let site = match &wrapped.function.sig.output {
        ReturnType::Type(_, ty) => ty.span().resolved_at(Site::mixed_site()),
        ReturnType::Default => Site::mixed_site(),
    };
    let around = around.split("::").map(|word| format_ident!("{word}", span = site));
    let (k, body) = (wrapped.telemetry.options.krate.private_at(site), &wrapped.body);
    let output = closure_output(&wrapped.function.sig.output);
    quote_spanned!(site=> #k::#(#around)::*(#begin, #k::call(|| #output #body), #handlers))
}
