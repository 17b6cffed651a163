//! Generates a function whose span covers the call.

use proc_macro2::{Span as Site, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::ReturnType;

use super::super::arguments::rebind_mutable;
use super::super::metric::Metrics;
use super::super::model::Wrapped;
use super::super::shape::{inferred, nothing_to_drop};
use super::{after, callsite, in_our_edition, observer, with_body};

/// Generates a function whose body runs in a closure, so that its value can be observed on every exit.
///
/// If the span has more than a name, the same closure first begins the span. So attributes may borrow values that the body
/// consumes. A recorded call is a single call of the runtime, which keeps nothing alive; an unrecorded call runs the body alone.
/// The closure captures as the body requires, so arguments are dropped as before. Only if nothing can be dropped does it capture
/// by move, because then arguments in registers need not be stored for it.
pub(super) fn observed(wrapped: &Wrapped) -> TokenStream {
    let (site, telemetry) = (wrapped.site(), &wrapped.telemetry);
    let k = telemetry.options.krate.private_as_of(site);
    let callsite = callsite::declare(wrapped);
    let mut sig = wrapped.function.sig.clone();
    let arguments = rebind_mutable(&mut sig);
    let output = closure_output(&wrapped.function.sig.output, site);
    let labels = telemetry.metrics.as_ref().map(Metrics::bare_labels).unwrap_or_default();
    let by_move = nothing_to_drop(&sig, &labels).then(|| quote_spanned!(site=> move));
    let observer = observer::of_returned(wrapped);
    let otherwise = matches!(&observer, Some(Some(_))).then(|| observer::otherwise(&telemetry.options.krate.private()));
    let new_body = if let (true, Some(observer)) = (callsite::is_plain(telemetry), &observer) {
        let body = match arguments.is_empty() {
            true => wrapped.body.to_token_stream(),
            false => {
                let body = after(&arguments, &wrapped.body, site);
                in_our_edition(&body, true, site).into_token_stream()
            }
        };
        let (run, observer) = match observer {
            Some(observer) => (quote_spanned!(site=> run_observed), quote_spanned!(site=> , #observer)),
            None => (quote_spanned!(site=> run), TokenStream::new()),
        };
        quote_spanned!(site=> #otherwise #callsite #k::#run(&__TC_CALLSITE, #by_move || #output #body #observer))
    } else {
        let (begin, reference) = (callsite::beginning(telemetry, site), callsite::reference(telemetry, site));
        let body = after(&quote_spanned!(site=> #arguments #begin;), &wrapped.body, site);
        let body = in_our_edition(&body, !arguments.is_empty(), site);
        let (run, observer) = match observer {
            Some(observer) => (quote_spanned!(site=> run_begun), observer.unwrap_or_else(|| quote_spanned!(site=> ()))),
            None => (quote_spanned!(site=> run_probed), observer::probe(wrapped)),
        };
        quote_spanned!(site=> #otherwise #callsite #k::#run(#reference, #by_move |__tc_begin| #output #body, #observer))
    };
    with_body(wrapped, &sig, new_body)
}

/// Generates a function whose body stays in place after a guard, as `#[track_caller]` requires; the value of the body is not
/// observed.
pub(super) fn guarded(wrapped: &Wrapped) -> TokenStream {
    let site = Site::mixed_site();
    let (callsite, enter) = (callsite::declare(wrapped), callsite::enter(&wrapped.telemetry, site));
    let guard = quote_spanned!(site=> #callsite let __tc_guard = #enter;);
    with_body(wrapped, &wrapped.function.sig, after(&guard, &wrapped.body, site))
}

/// Returns the return type for a closure around the body, so that coercions and inference work as before. `None` if the function
/// has no return type.
pub(super) fn closure_output(output: &ReturnType, site: Site) -> Option<TokenStream> {
    let ReturnType::Type(_, ty) = output else {
        return None;
    };
    let ty = inferred(ty).unwrap_or_else(|| quote_spanned!(site=> _));
    Some(quote_spanned!(site=> -> #ty))
}
