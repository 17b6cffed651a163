//! The functions that look at a value when the call is over.

use proc_macro2::{Span as Site, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, Type};

use super::super::metric::Metrics;
use super::super::model::{Observe, Wrapped};
use super::super::options::Field;
use super::super::shape::inferred;
use super::fields::site_of;

/// The last arguments of a wrapper: what looks at the value for the span, and what does for the metrics.
pub(super) fn handlers(wrapped: &Wrapped) -> TokenStream {
    let handler = handler(wrapped);
    match &wrapped.telemetry.metrics {
        None => handler,
        Some(metrics) => {
            let judge = judge(wrapped, metrics);
            quote_spanned!(Site::mixed_site()=> #handler, #judge)
        }
    }
}

/// An expression that takes the value and the end of the span.
fn handler(wrapped: &Wrapped) -> TokenStream {
    let (k, site) = (wrapped.telemetry.options.krate.private(), Site::mixed_site());
    let Observe::Value(ty) = &wrapped.observe else {
        return quote_spanned!(site=> #k::unobserved);
    };
    let ty = annotation(ty.as_deref());
    let report = report(wrapped);
    let fields = fields(wrapped);
    quote_spanned!(site=> |__tc_result #ty, __tc_end| { #report #fields })
}

/// An expression that takes the value and the verdict of the metrics on it.
fn judge(wrapped: &Wrapped, metrics: &Metrics) -> TokenStream {
    let (k, site) = (wrapped.telemetry.options.krate.private(), Site::mixed_site());
    let Observe::Value(ty) = &wrapped.judge else {
        return quote_spanned!(site=> #k::unjudged);
    };
    let ty = annotation(ty.as_deref());
    let judge = wrapped
        .telemetry
        .options
        .no_err
        .is_none()
        .then(|| quote_spanned!(site=> { use #k::probe::*; (&&&Probe(__tc_result)).judge(__tc_verdict); }));
    let labels = (!metrics.results.is_empty())
        .then(|| set_each(&metrics.results, "label", &quote_spanned!(site=> __tc_verdict), &k));
    quote_spanned!(site=> |__tc_result #ty, __tc_verdict| { #judge #labels })
}

/// Names the type where it comes from the signature only, and the body may leave it open: `async { Ok(()) }`.
fn annotation(ty: Option<&Type>) -> Option<TokenStream> {
    let ty = inferred(ty?)?;
    Some(quote_spanned!(Site::mixed_site()=> : &#ty))
}

/// Tells an `Err` from everything else by type, not by spelling.
fn report(wrapped: &Wrapped) -> Option<TokenStream> {
    let (k, site) = (wrapped.telemetry.options.krate.private(), Site::mixed_site());
    let method = match (&wrapped.telemetry.options.no_err, &wrapped.telemetry.options.no_message) {
        (Some(_), _) => return None,
        (None, Some(_)) => quote_spanned!(site=> report_type),
        (None, None) => quote_spanned!(site=> report),
    };
    let report = quote_spanned!(site=> use #k::probe::*; (&&&Probe(__tc_result)).#method(__tc_end););
    // The traits of the probe must not be in scope for the user's closures.
    Some(if wrapped.telemetry.options.result.is_empty() { report } else { quote_spanned!(site=> { #report }) })
}

fn fields(wrapped: &Wrapped) -> Option<TokenStream> {
    (!wrapped.telemetry.options.result.is_empty()).then(|| set_fields(wrapped, "__tc_end"))
}

/// Sets the fields of `result(..)` on `target`, from the value in `__tc_result`.
pub(super) fn set_fields(wrapped: &Wrapped, target: &str) -> TokenStream {
    let target = Ident::new(target, Site::mixed_site());
    let options = &wrapped.telemetry.options;
    set_each(&options.result, "attr", &target.into_token_stream(), &options.krate.private())
}

/// Gives each of `fields` to a method of `target`, from the value in `__tc_result`.
pub(super) fn set_each(fields: &[Field], method: &str, target: &TokenStream, k: &TokenStream) -> TokenStream {
    let site = Site::mixed_site();
    let sets = fields.iter().enumerate().map(|(index, Field { value, alias, .. })| {
        let (method, success) = (Ident::new(method, alias.span()), quote_spanned!(site=> __tc_value));
        // A variable at the closure, because the compiler points at it if what the closure returns has the wrong type.
        let field = format_ident!("__tc_field{index}", span = value.span());
        quote_spanned! {site_of(value)=>
            let #field = #k::apply(#success, #value);
            #target.#method::<#alias>(#field);
        }
    });
    // The user's closure looks redundant only because of what is generated around it.
    quote_spanned! {site=>
        #[allow(clippy::redundant_closure, clippy::redundant_closure_for_method_calls)]
        if let ::core::option::Option::Some(__tc_value) = { use #k::probe::*; (&Probe(__tc_result)).success() } {
            #(#sets)*
        }
    }
}
