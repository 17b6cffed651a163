//! Generates a function that returns a future or a stream, which the span covers to its end.

use proc_macro2::{Span as Site, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::ReturnType;
use syn::spanned::Spanned;

use super::super::body::Tail;
use super::super::model::Wrapped;
use super::call::closure_output;
use super::{after, callsite, observer, with_body};

pub(super) fn future(wrapped: &Wrapped, opaque: bool, tail: Option<&Tail>) -> TokenStream {
    expand(wrapped, tail, "Instrumented", if opaque { None } else { Some("rewrap") })
}

pub(super) fn stream(wrapped: &Wrapped, opaque: bool, tail: Option<&Tail>) -> TokenStream {
    expand(wrapped, tail, "InstrumentedStream", if opaque { None } else { Some("rewrap_stream") })
}

/// Generates the function. Wraps the target of the tail in `wrapper` if it can be wrapped in place, else the value of the whole
/// body. For a return type that must stay, `fixed` names the function that wraps this value.
fn expand(wrapped: &Wrapped, tail: Option<&Tail>, wrapper: &str, fixed: Option<&str>) -> TokenStream {
    let (k, site) = (wrapped.telemetry.options.krate.private(), Site::mixed_site());
    let (callsite, begin) =
        (callsite::declare(wrapped), callsite::begin(&wrapped.telemetry, &TokenStream::new(), site));
    let probe = observer::probe(wrapped);
    // A body that is only an async block runs when the future is polled. Any other body runs at the call, inside the span.
    let (making, made) = match tail.is_some_and(|tail| tail.is_whole_body) {
        true => (quote_spanned!(site=> #begin), quote_spanned!(site=> __tc_span)),
        false => (quote_spanned!(site=> #begin.making()), quote_spanned!(site=> __tc_span.made())),
    };
    let rewritten = tail.and_then(|tail| {
        // Wraps inside the box that the user creates anyway, so there is no second allocation.
        let wrapper = format_ident!("{wrapper}");
        tail.rewrite(&wrapped.body, |target| quote_spanned!(site=> #k::#wrapper::probed(#made, #target, #probe)))
    });
    let making = quote_spanned!(site=> #callsite let __tc_span = #making;);
    if let Some(body) = rewritten {
        return with_body(wrapped, &wrapped.function.sig, after(&making, &body, site));
    }
    let around = fixed.map_or_else(|| format!("{wrapper}::probed"), str::to_owned);
    let around = around_made(wrapped, &around, &probe);
    with_body(wrapped, &wrapped.function.sig, quote_spanned!(site=> #making #around))
}

/// Wraps the value of the body with its span and metrics. If its type cannot be wrapped, the error points at the return type.
fn around_made(wrapped: &Wrapped, around: &str, probe: &TokenStream) -> TokenStream {
    let site = match &wrapped.function.sig.output {
        ReturnType::Type(_, ty) => ty.span().resolved_at(Site::mixed_site()),
        ReturnType::Default => Site::mixed_site(),
    };
    let around = around.split("::").map(|word| format_ident!("{word}", span = site));
    let (k, body) = (wrapped.telemetry.options.krate.private_at(site), &wrapped.body);
    let output = closure_output(&wrapped.function.sig.output, Site::mixed_site());
    quote_spanned! {site=>
        let __tc_made = #k::apply(&(), |_| #output #body);
        #k::#(#around)::*(__tc_span.made(), __tc_made, #probe)
    }
}
