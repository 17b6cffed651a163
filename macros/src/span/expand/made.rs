//! A function that returns a future or a stream, which the span covers to its end.

use proc_macro2::{Span as Site, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::ReturnType;
use syn::spanned::Spanned;

use super::super::body::Tail;
use super::super::model::Span;
use super::call::closure_output;
use super::{after, callsite, handler, with_body};

pub(super) fn future(span: &Span, opaque: bool, tail: Option<&Tail>) -> TokenStream {
    expand(span, tail, if opaque { "Instrumented::new" } else { "rewrap" }, "Instrumented")
}

pub(super) fn stream(span: &Span, opaque: bool, tail: Option<&Tail>) -> TokenStream {
    expand(span, tail, if opaque { "InstrumentedStream::new" } else { "rewrap_stream" }, "InstrumentedStream")
}

/// Wraps the async block at the tail in `wrapper` if there is one, else the value of the whole body by `around`.
fn expand(span: &Span, tail: Option<&Tail>, around: &str, wrapper: &str) -> TokenStream {
    let (k, wrapper, site) = (span.options.krate.private(), format_ident!("{wrapper}"), Site::mixed_site());
    let (callsite, begin) = (callsite::declare(&span.options, &span.name), callsite::begin(&span.options));
    let handler = handler::handler(span);
    let rewritten = tail.and_then(|tail| {
        // In the box that the user makes anyway, so there is no second allocation.
        tail.rewrite(&span.body, |target| quote_spanned!(site=> #k::#wrapper::new(__tc_span, #target, #handler)))
    });
    if let Some(body) = rewritten {
        let begin = quote_spanned!(site=> #callsite let __tc_span = #begin;);
        return with_body(span, &span.function.sig, after(&begin, &body));
    }
    let around = around_made(span, around, &begin, &handler);
    with_body(span, &span.function.sig, quote_spanned!(site=> #callsite #around))
}

/// What the body returns, in its span. That it can carry none is an error at the return type.
fn around_made(span: &Span, around: &str, begin: &TokenStream, handler: &TokenStream) -> TokenStream {
    let site = match &span.function.sig.output {
        ReturnType::Type(_, ty) => ty.span().resolved_at(Site::mixed_site()),
        ReturnType::Default => Site::mixed_site(),
    };
    let around = around.split("::").map(|word| format_ident!("{word}", span = site));
    let (k, body) = (span.options.krate.private_at(site), &span.body);
    let output = closure_output(&span.function.sig.output);
    quote_spanned!(site=> #k::#(#around)::*(#begin, #k::call(|| #output #body), #handler))
}
